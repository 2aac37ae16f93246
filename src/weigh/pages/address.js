// Converts answers to the text after # in the address, and back. Runs without a page.
function addressOf(model) {
  const { columns, classes } = model;
  const two = classes.length === 2;
  const LONGEST = 80; // maximum characters shown of a part that is ignored

  // ~ begins entries that are not a name or a level; names and levels that begin with ~ have it
  // doubled.
  const guard = (text) => (text.startsWith("~") ? `~${text}` : text);
  const places = new Map();
  columns.forEach(({ name }, j) => places.set(guard(name), [...(places.get(guard(name)) ?? []), j]));

  function textOf(column, value) {
    if (value === weigh.MISSING) return "~missing";
    if (column.kind !== "choice") return String(value);
    return value < column.choices.length ? guard(column.choices[value]) : "~other";
  }

  function write({ answers, of, against, rate, rateOf }, isAsked) {
    const text = new URLSearchParams();
    columns.forEach((column, j) => {
      const value = answers[j] ?? null;
      if (value !== null && isAsked(j)) text.set(guard(column.name), textOf(column, value));
    });
    if (classes.length > 2 && of !== model.of) text.set("~pos_label", of === null ? "" : classes[of]);
    if (against !== null) text.set("~against", classes[against]);
    if (rate !== null) text.set("~rate", rate);
    if (rate !== null && !two) text.set("~rate-of", classes[rateOf]);
    return text.toString();
  }

  // ---------------------------------------------------------------- reading

  // Reads the answer from a text, or throws an error that says why it cannot.
  function valueOf(column, text) {
    if (text === "") return null;
    if (text === "~missing" && column.missing) return weigh.MISSING;
    if (column.kind === "choice") {
      if (text === "~other" && !column.closed) return column.choices.length;
      const find = (name) => column.choices.findIndex((choice) => guard(choice) === name);
      const exact = find(text); // choices that end in blanks are in quotes, data are not
      const place = exact < 0 ? find(`"${text}"`) : exact;
      if (place < 0)
        throw new RangeError(`no such level${column.closed ? "" : "; ~other is any that is not listed"}`);
      return place;
    }
    const value = words.readNumber(text);
    if (Number.isNaN(value)) throw new RangeError("not a number");
    if (column.kind === "count" && value <= 0) throw new RangeError("not a count above 0");
    if (column.kind === "exposure" && value <= 0) throw new RangeError("not above 0");
    return value;
  }

  function classOf(text) {
    if (!classes.includes(text)) throw new RangeError("no such class");
    return classes.indexOf(text);
  }

  function rateOf(text) {
    const p = Number(text);
    if (!(p > 0 && p < 1)) throw new RangeError("not between 0 and 1");
    return p;
  }

  function take(found, name, text) {
    const own = classes.length > 1 ? { "~rate": ["rate", rateOf] } : {};
    if (classes.length > 2) {
      own["~rate-of"] = ["rateOf", classOf];
      own["~pos_label"] = ["of", (given) => (given === "" ? null : classOf(given))];
      if (model.link !== "ovr") own["~against"] = ["against", classOf];
    }
    if (places.has(name)) {
      for (const j of places.get(name)) found.answers[j] = valueOf(columns[j], text);
    } else if (Object.hasOwn(own, name)) {
      const [key, readIt] = own[name];
      found[key] = readIt(text);
    } else throw new RangeError("no such question");
  }

  const told = (name, text, why) =>
    `${`${name}=${text}`.slice(0, LONGEST)}${name.length + text.length >= LONGEST ? "…" : ""} (${why})`;

  // The case, and the parts of the text that could not be used.
  function read(text) {
    const found = { answers: columns.map(() => null), rate: null, against: null };
    found.of = two ? null : model.of;
    found.rateOf = model.of ?? 0;
    const [ignored, seen] = [[], new Set()];
    for (const [name, value] of new URLSearchParams(text)) {
      try {
        if (seen.has(name)) throw new RangeError("given twice");
        seen.add(name);
        take(found, name, value);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        ignored.push(told(name, value, error.message));
      }
    }
    if (found.against !== null && (found.of === null || found.of === found.against)) {
      ignored.push(told("~against", classes[found.against], "against itself, or of no class"));
      found.against = null;
    }
    return { found, ignored };
  }

  return { read, write };
}
