// A model of a number: its sheet, the prediction interval of a new row, and how the page shows
// both.

// Distributions of numbers of 0 or more with a given mean: the cumulative probability, and
// quantiles.
const laws = (() => {
  const LANCZOS = [
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
    1.5056327351493116e-7,
  ];
  const [TINY, ENOUGH, MOST] = [1e-300, 1e-15, 100000];

  function logGamma(x) {
    const shifted = x - 1;
    const t = shifted + 7.5;
    const series = LANCZOS.slice(1).reduce((a, c, i) => a + c / (shifted + i + 1), LANCZOS[0]);
    return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(t) - t + Math.log(series);
  }

  // A continued fraction, by the method of Lentz: step(i) gives the i-th numerator and denominator.
  function fraction(first, step) {
    let c = first || TINY;
    let [d, value] = [0, c];
    for (let i = 1; i < MOST; i++) {
      const [a, b] = step(i);
      d = 1 / (b + a * d || TINY);
      c = b + a / c || TINY;
      value *= c * d;
      if (Math.abs(c * d - 1) < ENOUGH) break;
    }
    return value;
  }

  // The regularized upper incomplete gamma function with shape a.
  function gammaAbove(a, x) {
    if (x <= 0) return 1;
    const front = Math.exp(a * Math.log(x) - x - logGamma(a));
    if (x >= a + 1) return front / fraction(x + 1 - a, (i) => [i * (a - i), x + 2 * i + 1 - a]);
    let [term, sum] = [1 / a, 1 / a];
    for (let i = 1; i < MOST && term > ENOUGH * sum; i++) sum += term *= x / (a + i);
    return 1 - front * sum;
  }

  // The regularized incomplete beta function at x, with shapes a and b.
  function betaBelow(a, b, x) {
    if (x > (a + 1) / (a + b + 2)) return 1 - betaBelow(b, a, 1 - x);
    const logs = logGamma(a + b) - logGamma(a) - logGamma(b);
    const front = Math.exp(logs + a * Math.log(x) + b * Math.log1p(-x)) / a;
    const step = (i) => {
      const m = Math.floor(i / 2);
      return i % 2
        ? [(-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)), 1]
        : [(m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)), 1];
    };
    return front / fraction(1, step);
  }

  // As numpy.interp: linear between points, and constant beyond them.
  function interpolate(x, xs, ys) {
    const last = xs.length - 1;
    if (x < xs[0]) return ys[0];
    if (x >= xs[last]) return ys[last];
    let [low, high] = [0, last];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (xs[middle] <= x) low = middle;
      else high = middle;
    }
    return ys[low] + ((ys[low + 1] - ys[low]) * (x - xs[low])) / (xs[low + 1] - xs[low]);
  }

  // Counts: Poisson, or negative binomial where the variance is a multiple of the mean.
  function counts(dispersion) {
    const below = (k, mean) =>
      k < 0
        ? 0
        : dispersion > 1 + 1e-9
          ? betaBelow(mean / (dispersion - 1), k + 1, 1 / dispersion)
          : gammaAbove(k + 1, mean);
    const reached = (k, means) =>
      means.reduce((all, mean) => all + below(k, mean), 0) / means.length;
    function quantile(probability, means) {
      let [low, high] = [-1, Math.ceil(Math.max(...means)) + 1];
      while (reached(high, means) < probability) [low, high] = [high, 2 * high];
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (reached(middle, means) >= probability) high = middle;
        else low = middle;
      }
      return high;
    }
    // The shortest interval that reaches the coverage: its lowest count is at least as likely as
    // the first count above it.
    function interval(coverage, means) {
      const end = (low) => quantile(coverage + reached(low - 1, means), means);
      const chance = (k) => reached(k, means) - reached(k - 1, means);
      let [low, last] = [0, quantile(1 - coverage, means)];
      while (low < last) {
        const middle = Math.floor((low + last) / 2);
        if (chance(middle) < chance(end(middle) + 1)) low = middle + 1;
        else last = middle;
      }
      return [low, end(low)];
    }
    return { interval };
  }

  // Amounts whose standardized errors are distributed as those of the training rows.
  function errors({ dispersion, power, errors: known }) {
    const grid = known.map((_, i) => i / (known.length - 1));
    const deviation = (mean) => Math.sqrt(dispersion) * mean ** (power / 2);
    const quantile = (probability, mean) =>
      Math.max(mean + interpolate(probability, grid, known) * deviation(mean), 0);
    const below = (x, mean) => interpolate((x - mean) / deviation(mean), known, grid);
    function mixed(probability, means) {
      const each = means.map((mean) => quantile(probability, mean));
      let [low, high] = [Math.min(...each), Math.max(...each)];
      const reached = (x) => means.reduce((all, m) => all + below(x, m), 0) / means.length;
      if (means.length === 1 || reached(low) >= probability) return low;
      for (let i = 0; i < 200 && high - low > 1e-10 * high; i++) {
        const middle = (low + high) / 2;
        if (reached(middle) >= probability) high = middle;
        else low = middle;
      }
      return high;
    }
    function interval(coverage, means) {
      const part = (1 - coverage) / 2;
      return [mixed(part, means), mixed(coverage + part, means)];
    }
    return { interval };
  }

  return { counts, errors, interpolate };
})();

const numbers = (() => {
  const FACTORS = 40; // number of equally likely factors that represent features not known
  const sum = (values) => values.reduce((a, b) => a + b, 0);

  // Equally likely factors for the tables in which the case has no level, in ascending order.
  function factorsOf(tables) {
    let logs = new Array(FACTORS).fill(0);
    for (const { weights, share } of tables) {
      const mean = Math.log(sum(weights.map(([w], i) => share[i] * Math.exp(w))));
      const sums = logs.flatMap((log) =>
        weights.map(([w], i) => [log + w - mean, share[i] / FACTORS]),
      );
      sums.sort(([a], [b]) => a - b);
      let [at, reached] = [0, sums[0][1]];
      logs = logs.map((_, k) => {
        while (reached < (k + 0.5) / FACTORS && at < sums.length - 1) reached += sums[++at][1];
        return sums[at][0];
      });
    }
    return logs.map(Math.exp);
  }

  function varied({ weights, share }) {
    const mean = sum(weights.map(([w], i) => share[i] * w));
    return sum(weights.map(([w], i) => share[i] * (w - mean) ** 2));
  }

  // The prediction interval of a new row: noise, error of the estimate, and features not known.
  function intervalOf(model, lines, mean) {
    const { spread, coverage } = model;
    if (!spread) return null;
    const blank = model.tables.filter((_, j) => lines[j].at < 0);
    if (model.link === "identity") {
      const part = (1 - coverage) / 2;
      const grid = spread.errors.map((_, i) => i / (spread.errors.length - 1));
      const known = model.covariance ? weigh.variance(model.covariance, lines) : 0;
      const deviation = Math.sqrt(spread.dispersion + known + sum(blank.map(varied)));
      return [part, 1 - part].map(
        (p) => mean + laws.interpolate(p, grid, spread.errors) * deviation,
      );
    }
    const law = spread.errors.length ? laws.errors(spread) : laws.counts(spread.dispersion);
    const means = blank.length ? factorsOf(blank).map((factor) => mean * factor) : [mean];
    return law.interval(coverage, means);
  }

  // What the exposure and the offset of a case add to its total; an absent one adds nothing.
  function knownOf(model, answers) {
    return (model.known ?? []).flatMap(({ column, role }) => {
      const value = answers[column];
      if (typeof value !== "number") return [];
      const { name, title } = model.columns[column];
      const weight = role === "exposure" ? Math.log(value) : value;
      return [{ words: `${title ?? name} = ${value} (${role})`, weight }];
    });
  }

  // One case explained, as `balance_sheet` does.
  function sheet(model, answers) {
    const lines = model.tables.map((table) => weigh.line(model, table, answers));
    const before = lines.reduce((all, line) => all + line.weights[0], model.prior[0]);
    const known = knownOf(model, answers);
    const total = before + sum(known.map((own) => own.weight));
    const meaning = (x) => (model.link === "log" ? Math.exp(x) : x);
    const [rate, estimate] = [before, total].map(meaning);
    const items = lines.map((line) => ({
      ...line,
      weight: line.weights[0],
      change: meaning(line.weights[0]),
    }));
    const start = meaning(model.prior[0]);
    const interval = intervalOf(model, lines, estimate);
    return { start, items, known, rate, total, estimate, interval };
  }

  return { sheet };
})();

// Shows the sheets of a model of a number.
function numberView(model) {
  const { byId, percent } = words;
  const { phrase, showSide, noteWeightless } = parts;
  const factors = model.link === "log";
  const nameOf = (sheet) => (sheet.known.length ? model.target : model.classTexts[0]);
  const change = (weight, digits) =>
    factors ? factor(Math.exp(weight)) : spell(weight, digits, true);

  function digitsOf(size) {
    const known = Math.abs(size) > 0 && Number.isFinite(size);
    return known ? Math.max(2 - Math.floor(Math.log10(Math.abs(size))), 0) : 2;
  }

  function spell(value, digits, sign = false) {
    if (digits > 6 || !Number.isFinite(value)) return String(Number(value.toPrecision(3)));
    const whole = Math.abs(value).toLocaleString("en-US", {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    if (!/[1-9]/.test(whole)) return whole;
    return (value < 0 ? "−" : sign ? "+" : "") + whole;
  }

  function factor(value) {
    if (!(value > 1e-4 && value < 1e4)) return `× ${Number(value.toPrecision(3))}`;
    return `× ${value.toFixed(value >= 0.095 ? 2 : digitsOf(value) - 1)}`;
  }

  // Decimal places that fit the interval, or the estimate where there is none.
  function widthPlaces({ interval, estimate }) {
    return digitsOf(interval ? interval[1] - interval[0] : estimate);
  }

  // Those of the estimate: with a log link it may be much smaller than its interval.
  function places(sheet) {
    const wide = widthPlaces(sheet);
    return factors ? Math.max(wide, digitsOf(sheet.estimate)) : wide;
  }

  // Decimal places of the limits of an interval: those of a count are whole numbers.
  function limitPlaces(sheet, ...limits) {
    return factors && limits.every(Number.isInteger) ? 0 : widthPlaces(sheet);
  }

  function showAnswer(sheet) {
    const digits = places(sheet);
    const [low, high] = sheet.interval ?? [sheet.estimate, sheet.estimate];
    const whole = limitPlaces(sheet, low, high);
    byId("of-what").textContent = `Estimate of ${nameOf(sheet)}`;
    byId("probability").textContent = spell(sheet.estimate, digits);
    byId("interval").textContent = sheet.interval
      ? `${percent(model.coverage)} interval ${spell(low, whole)} to ${spell(high, whole)}`
      : "";
    const from = Math.min(low, model.axis[0]);
    const across = Math.max(high, model.axis[1]) - from || 1;
    const at = (x) => (100 * (x - from)) / across;
    byId("reach").setAttribute("x", at(low));
    byId("reach").setAttribute("width", at(high) - at(low));
    byId("gauge").setAttribute("x", Math.max(at(sheet.estimate) - 0.4, 0));
    byId("gauge").setAttribute("width", 0.8);
    const ends = [from, from + across];
    const [left, right] = ends.map((end) => spell(end, limitPlaces(sheet, ...ends)));
    byId("bar-name").textContent =
      `${spell(sheet.estimate, digits)} on a scale from ${left} to ${right}`;
  }

  function showSides(sheet) {
    const digits = places(sheet);
    const heavy = [...sheet.items].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
    const most = Math.max(...heavy.map((item) => Math.abs(item.weight)), 1e-300);
    const told = (weight) => change(weight, digits);
    const side = (id, caption, items) => {
      const lines = items.map((i) => ({ text: phrase(i), weight: i.weight, told: told(i.weight) }));
      const all = items.reduce((total, item) => total + item.weight, 0);
      showSide(id, caption, lines, most, [factors ? "Together" : "Sum", told(all)]);
    };
    side("for", "Raises the estimate", heavy.filter((item) => item.weight > 0));
    side("against", "Lowers the estimate", heavy.filter((item) => item.weight < 0));
  }

  function showFoot(sheet) {
    const digits = places(sheet);
    const fine = sheet.known.length && factors ? digitsOf(sheet.rate) : digits; // as in Python
    const known = sheet.known.map((own) => [own.words, change(own.weight, digits)]);
    const rate = [`Estimate of ${model.classTexts[0]}`, spell(sheet.rate, fine)];
    const rows = [
      ["Start: nothing known", spell(sheet.start, fine)],
      ...(known.length ? [rate, ...known] : []),
      [`Estimate of ${nameOf(sheet)}`, spell(sheet.estimate, digits)],
    ];
    parts.showFoot(rows, notes(sheet));
  }

  function notes(sheet) {
    const told = noteWeightless(sheet, "Not known", "No effect");
    told.push(
      factors
        ? "Start times all factors is the estimate. The numbers shown are rounded."
        : "Start and changes add up to the estimate. The numbers shown are rounded.",
    );
    if (sheet.interval) told.push("The interval is for a new case. It is wider where answers are not known.");
    return told;
  }

  return (sheet) => {
    showAnswer(sheet);
    showSides(sheet);
    showFoot(sheet);
  };
}
