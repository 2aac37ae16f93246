// The balance sheet on the page. Names and levels are inserted as text, never as markup.

// The parts that the sheets of classes and of numbers share.
const parts = (() => {
  const { byId, make } = words;
  const LISTED = 12; // maximum number of questions without an answer that a note lists

  const phrase = (item) => item.words + (item.note ? ` (${item.note})` : "");

  function row(text, value, ...below) {
    const name = below.length ? [make("span", { textContent: text }), ...below] : [text];
    const head = make("th", { scope: "row" }, ...name);
    return make("tr", {}, head, make("td", { className: "number", textContent: value }));
  }

  // One side of a sheet: a row with a bar for each line, and their sum. `most` fills the width.
  function showSide(id, caption, lines, most, foot) {
    const rows = lines.map(({ text, weight, told }) => {
      const bar = make("span", { className: "bar", ariaHidden: "true" });
      bar.style.inlineSize = `${(100 * Math.abs(weight ?? 0)) / most}%`;
      return row(text, told, bar);
    });
    byId(id).replaceChildren(
      make("caption", { textContent: caption }),
      make("tbody", {}, ...rows),
      make("tfoot", {}, row(...foot)),
    );
  }

  function showFoot(rows, notes) {
    byId("foot").replaceChildren(...rows.map((cells) => row(...cells)));
    byId("notes").replaceChildren(...notes.map((text) => make("li", { textContent: text })));
  }

  // Notes on features without a weight: those whose answer is not known, and the others. A pair is
  // left out if its answers that are not known are listed themselves.
  function noteWeightless({ items }, unknownName, restName) {
    const alone = items.filter((item) => item.weight === 0 && item.columns?.length === 1);
    const listed = new Set(alone.flatMap((item) => item.blanks));
    const follows = ({ columns, blanks }) =>
      columns?.length > 1 && blanks.length > 0 && blanks.every((column) => listed.has(column));
    const weightless = items.filter((item) => item.weight === 0 && !follows(item));
    const unknown = weightless.filter((item) => item.unknown).map((item) => item.title);
    const rest = weightless.filter((item) => !item.unknown);
    const n = unknown.length === LISTED + 1 ? unknown.length : LISTED; // "and 1 more" is no shorter
    const others = unknown.length > n ? ` and ${unknown.length - n} more` : "";
    const told = [];
    if (unknown.length) told.push(`${unknownName}: ${unknown.slice(0, n).join(", ")}${others}.`);
    if (rest.length) told.push(`${restName}: ${rest.map(phrase).join("; ")}.`);
    return told;
  }

  return { phrase, showSide, showFoot, noteWeightless };
})();

// Shows the sheets of a model.
function sheetView(model) {
  const { byId, make, whole, signed, chance, chances, percent } = words;
  const { phrase, showSide, noteWeightless } = parts;
  const classes = model.classTexts;
  const two = classes.length === 2;
  // The unit of weights: times 100, or the points of a scorecard, which add base points.
  const { scale, start, points } = model.units;
  const rounded = (weight) => whole(scale * weight);
  const readTotal = (total) => whole(start + scale * total);
  const hundredths = (weight) => signed(rounded(weight));
  const REASONS = 4; // maximum number of reason codes

  function questionOf(sheet) {
    const rival = sheet.against >= 0 && !two ? ` rather than ${classes[sheet.against]}` : "";
    return classes[sheet.of] + rival;
  }

  function showProbability(sheet) {
    const rival = sheet.against >= 0 && !two;
    const asked = rival ? `Probability of ${questionOf(sheet)}` : model.asks[sheet.of];
    const [told, lowest, highest] = chances([sheet.probability, ...(sheet.interval ?? [])]);
    byId("of-what").textContent = points ? "Score" : asked;
    showDecision(sheet);
    byId("probability").textContent = points ? readTotal(sheet.total) : told;
    byId("gauge").setAttribute("width", 100 * sheet.probability);
    const reach = byId("reach");
    const [low, high] = sheet.interval ?? [0, 0];
    reach.setAttribute("x", 100 * low);
    reach.setAttribute("width", 100 * (high - low));
    const interval = `${percent(model.coverage)} interval ${lowest} to ${highest}`;
    byId("interval").textContent = points ? `${asked}: ${told}` : sheet.interval ? interval : "";
    byId("bar-name").textContent = `${told} out of 1`;
    if (!two) showClasses(sheet);
  }

  function showDecision(sheet) {
    const { decide } = model;
    byId("decision").hidden = !decide || !sheet.answered; // an empty form is no case to decide
    if (!decide) return;
    const scored = decide.score !== undefined; // of a scorecard: the lowest score that is approved
    const above = scored
      ? readTotal(sheet.total) >= decide.score
      : sheet.probabilities[decide.of] > decide.at;
    const told = scored
      ? `Score ${above ? "at or above" : "below"} the cut-off of ${decide.score}`
      : `${above ? "Above" : "Not above"} the cut-off of ${percent(decide.at)}`;
    byId("decision").textContent = [decide.texts[above ? 0 : 1], told].filter(Boolean).map((text) => `${text}.`).join(" ");
    byId("decision").className = above ? "above" : "";
  }

  function showClasses(sheet) {
    const rows = classes.map((name, c) => {
      const bar = make("progress", { max: 1, value: sheet.probabilities[c] });
      bar.setAttribute("aria-label", name);
      return make(
        "tr",
        {},
        make("th", { scope: "row", textContent: name }),
        make("td", {}, bar),
        make("td", { className: "number", textContent: chance(sheet.probabilities[c]) }),
      );
    });
    byId("classes").replaceChildren(...rows);
  }

  // A line for each item, and one for all those that are rounded to 0.
  function folded(items) {
    const small = items.filter((item) => Math.abs(scale * item.weight) < 0.5);
    const line = (item) => ({ text: phrase(item), weight: item.weight });
    if (small.length < 2) return items.map(line);
    const weight = small.reduce((all, item) => all + item.weight, 0);
    const rest = { text: `${small.length} more items, together`, weight };
    return [...items.filter((item) => !small.includes(item)).map(line), rest];
  }

  function showSides(sheet) {
    const heavy = [...sheet.items].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
    const [positive, negative] = [1, -1].map((sign) =>
      folded(heavy.filter((item) => sign * item.weight > 0)),
    );
    const first = { text: points ? "Base points" : "Prior", whole: readTotal(sheet.prior) };
    const line = ({ text, weight }) => ({ text, weight, whole: rounded(weight) });
    if (!points) first.weight = sheet.prior;
    const lines = [...positive, ...negative].map(line);
    const red = model.adverse === null ? "" : model.adverse === sheet.of ? "for" : "against";
    byId("sides").className = red && `adverse-${red}`;
    const most = Math.max(...[first, ...lines].map((l) => Math.abs(l.weight ?? 0)), 0.05);
    const name = classes[sheet.of];
    const side = (id, sign, own) => {
      const told = own.map((l) => ({ ...l, told: signed(l.whole) }));
      const total = signed(own.reduce((all, l) => all + l.whole, 0));
      const foot = [`Total ${sign} ${points ? "points" : "weight"}`, total];
      showSide(id, `Evidence ${id} ${name}`, told, most, foot);
    };
    side("for", "positive", [
      ...(first.whole >= 0 ? [first] : []),
      ...lines.filter((l) => l.weight > 0),
    ]);
    side("against", "negative", [
      ...(first.whole < 0 ? [first] : []),
      ...lines.filter((l) => l.weight < 0),
    ]);
  }

  function showFoot(sheet) {
    const rows = [
      ...attenuated(sheet),
      ...recalibrated(sheet),
      points
        ? ["Score", String(readTotal(sheet.total))]
        : ["Total weight of evidence", hundredths(sheet.total)],
    ];
    if (!two && sheet.against < 0) {
      classes.forEach(
        (name, c) => c !== sheet.of && rows.push([`Total of ${name}`, hundredths(sheet.totals[c])]),
      );
    }
    parts.showFoot(rows, notes(sheet));
  }

  // The features that cost a case of a scorecard most points, compared with each feature's
  // baseline.
  function reasonsOf(sheet) {
    const { baselines, texts } = model.costs;
    return sheet.items
      .map((item, j) => ({
        text: texts[j].at(item.level), // the last text is that of no level
        cost: baselines[j] - rounded(item.weight),
      }))
      .filter(({ cost }) => cost > 0)
      .sort((a, b) => b.cost - a.cost)
      .slice(0, REASONS);
  }

  function showReasons(sheet) {
    const found = model.costs && sheet.answered ? reasonsOf(sheet) : [];
    byId("costs").hidden = !found.length;
    byId("reasons").replaceChildren(
      ...found.map(({ text, cost }) => make("li", { textContent: `${text}: ${whole(cost)} points` })),
    );
  }

  function attenuated(sheet) {
    const rule = sheet.attenuation;
    if (!rule) return [];
    const { shares } = model.attenuation;
    if (shares && rule.n === 0) return [];
    const unit = model.tokens ? "Tokens" : "Features";
    const rows = [
      ["Prior and weights", hundredths(sheet.before)],
      shares
        ? ["Share of the evidence not known", `${(100 * rule.n).toFixed(0)}%`]
        : [`${unit} observed`, String(rule.n)],
      [shares ? "Factor of the weights" : "Exponent", String(Number(rule.exponent.toPrecision(3)))],
    ];
    return rule.shift ? [...rows, ["Change of the base rate", hundredths(rule.shift)]] : rows;
  }

  function recalibrated(sheet) {
    const step = sheet.recalibration;
    if (!step) return [];
    const name = sheet.attenuation ? "Total before recalibration" : "Prior and weights";
    const rows = [
      [name, hundredths(step.before)],
      [`Recalibrated (${model.method})`, hundredths(step.after)],
    ];
    return step.shift ? [...rows, ["Change of the base rate", hundredths(step.shift)]] : rows;
  }

  function notes(sheet) {
    const what = points ? "points" : "weight";
    const told = noteWeightless(sheet, `Not known (no ${what})`, `No ${what}`);
    if (!points)
      told.push("Weights are times 100; positive ones favour the class, negative ones oppose it.");
    const lines = [1, -1].flatMap((sign) => folded(sheet.items.filter((i) => sign * i.weight > 0)));
    const shown =
      readTotal(sheet.prior) + lines.reduce((all, line) => all + rounded(line.weight), 0);
    if (shown !== readTotal(sheet.before)) {
      told.push(`The rounded weights add up to ${signed(shown)}; the total uses exact weights.`);
    }
    if (sheet.attenuation && model.attenuation.shares) {
      if (sheet.attenuation.n > 0) told.push(model.scaled);
    } else if (sheet.attenuation) {
      const what =
        model.attenuation.form === "root" ? "prior and weights" : "the weights and not the prior";
      told.push(`The exponent multiplies ${what}.`);
    }
    if (sheet.recalibration)
      told.push("Recalibrated: the log odds observed at such a total on hold-out rows.");
    if (!two && sheet.against < 0) {
      const part = model.link === "ovr" ? "1/(1 + exp(-total))" : "exp(total)";
      told.push(`The probability is ${part} over the sum of ${part} of all classes.`);
    }
    const more = model.covariance && sheet.items.some((item) => item.leftOut) ? model.atRandom : "";
    if (sheet.interval) told.push(`The interval assumes ${model.assumes}${more}${model.caveat}.`);
    else if (model.covariance) {
      told.push("No interval: a value never seen in training could weigh anything.");
    }
    return told;
  }

  return (sheet) => {
    showProbability(sheet);
    showSides(sheet);
    showFoot(sheet);
    showReasons(sheet);
  };
}
