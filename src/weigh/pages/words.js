// Helpers for elements and for the formatting of numbers.
const words = (() => {
  const byId = (id) => document.getElementById(id);

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  // Rounds to the nearest whole number, halves to the even one.
  function whole(x) {
    const near = Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x);
    return near + 0;
  }

  const signed = (whole) => (whole > 0 ? `+${whole}` : whole < 0 ? `−${-whole}` : "0");

  function chance(p) {
    if (p >= 0.005 && p <= 0.995) return p.toFixed(2);
    if (Math.min(p, 1 - p) < 1e-6) return p < 0.5 ? "< 0.000001" : "> 0.999999";
    return p < 0.5 ? p.toPrecision(1) : p.toFixed(-Math.floor(Math.log10(1 - p)));
  }

  // A probability with so many significant digits of it, or of its difference from 1.
  function precise(p, digits) {
    const rest = Math.min(p, 1 - p);
    return rest < 1e-6 ? chance(p) : p.toFixed(digits - 1 - Math.floor(Math.log10(rest)));
  }

  // A probability and its limits: two or three significant digits where one text is for two.
  function chances(numbers) {
    const same = (texts) => new Set(texts).size < new Set(numbers).size;
    let texts = numbers.map(chance);
    for (const digits of [2, 3]) if (same(texts)) texts = numbers.map((p) => precise(p, digits));
    return texts;
  }

  const percent = (p) => `${Number((100 * p).toPrecision(4))}%`;

  const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i; // Number() would read 0x10 as 16

  // 24,643.5 and 24 643.5 are grouped, as the page writes numbers; 41,5 has a decimal comma.
  function readNumber(text) {
    const plain = text.trim().replace("−", "-").replace(/(?<=\d)\s(?=\d{3}(?!\d))/g, "");
    const grouped = /^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(plain);
    const whole = grouped ? plain.replaceAll(",", "") : plain;
    const dotted = /^[^.,]*,[^.,]*$/.test(whole) ? whole.replace(",", ".") : whole;
    if (dotted === "") return null;
    const value = DECIMAL.test(dotted) ? Number(dotted) : NaN;
    return Number.isFinite(value) ? value : NaN;
  }

  return { byId, make, whole, signed, chance, chances, percent, readNumber };
})();
