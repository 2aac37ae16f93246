// The editor: every number comes from the session on the server; the page only stores what is open.
(() => {
  const about = JSON.parse(document.getElementById("model").textContent);
  const { byId, make } = words;
  const SVG = "http://www.w3.org/2000/svg";
  const number = about.link !== ""; // a regressor
  const factors = about.link === "log";
  const MEASURES = number
    ? [
        ["loss", "Mean deviance", digits],
        ["rmse", "RMSE", digits],
        ["mean_prediction", "Estimate (mean)", digits],
        ["observed", "Observed (mean)", digits],
      ]
    : [
        ["loss", "Loss (bits a row)", (x) => x.toFixed(4)],
        ["auc", "AUC", (x) => x.toFixed(4)],
        ["mean_prediction", "Predicted (mean)", percent],
        ["observed", "Observed", percent],
        ["above", about.approves ? "Approval rate" : "Above cut-off", share],
      ];
  // Weights are shown times 100; those of a card, or of a model with whole points, as points. Those
  // of a number are in its unit, or factors.
  const SCALE = number ? 1 : (about.points ?? 100);
  const NOUN = factors ? "factor" : number ? "change" : about.points ? "points" : "weight";
  const PLURAL = about.points ? "points" : `${NOUN}s`;
  const UNIT = number ? "" : " bits";
  const TELL = {
    merge: (a) => `Merge ${list(a.levels)}`,
    tie: (a) => `Give ${list(a.levels)} the same ${NOUN}`,
    set: (a) => `Set the ${NOUN} of ${named(a.level)} to ${signed(a.weight)}`,
    move_cut: (a) => `Move the cut point ${a.cut} to ${a.to}`,
    monotone: (a) => `Make the ${PLURAL} ${a.direction > 0 ? "rise" : "fall"}`,
    scale: (a) => factors ? `Raise the factors to the power ${a.factor}` : `Multiply the ${PLURAL} by ${a.factor}`,
    freeze: () => "Freeze the table: later refits leave it as it is",
    drop: () => "Drop the table",
    add_pair: (a) => `Add a table of ${shownAs(a.first)} and ${shownAs(a.second)} together`,
    remove_pair: () => "Remove the table of this pair",
    rename: (a) => (a.name ? `Show the table as “${a.name}”` : Object.entries(a.levels).map(([old, text]) => `Show ${named(old)} as “${text}”`)[0]),
  };
  const UNFITTED = new Set(["freeze", "rename"]); // changes that leave all weights as they are
  const STILL = 4; // maximum movement of a click, in units of the chart
  let state, table, proposed, busy = 0;
  const selected = new Set();

  function percent(x) { return `${(100 * x).toFixed(1)}%`; }
  // The share of rows above the cut-off, or of those that are approved.
  function share(x) { return percent(about.approves === "below" ? 1 - x : x); }
  function digits(x) { return String(Number(x.toPrecision(5))); }
  function read(x) {
    if (number) return Number((factors ? Math.exp(x) : x).toPrecision(4));
    return about.points && !about.card ? Number((SCALE * x).toFixed(1)) : Math.round(SCALE * x);
  }
  // The weight of a level from what was typed.
  function unread(x) { return factors ? Math.log(x) : x / SCALE; }
  function signed(x) { return factors ? `× ${read(x)}` : `${read(x) > 0 ? "+" : ""}${read(x)}`; }
  function list(levels) { return levels.map(named).join(" and "); }
  // Levels are sent by their labels, and shown as the table shows them.
  function named(label) { return `“${table.levels.find((level) => level.label === label)?.text ?? label}”`; }

  function shownAs(name) { return `“${state.tables.find((t) => t.name === name)?.shown ?? name}”`; }

  function draw(kind, attributes) {
    const made = document.createElementNS(SVG, kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  function say(text, wrong = false) {
    byId("status").textContent = text;
    byId("status").classList.toggle("wrong", wrong);
  }

  async function ask(path, sent) {
    busy += 1;
    document.body.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(path, sent && {
        method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(sent),
      });
      const held = await answer.json();
      if (!answer.ok) throw new Error(held.error);
      return held;
    } catch (error) {
      say(error instanceof TypeError
        ? "The editor has stopped. Start weigh edit again: accepted changes are in its draft."
        : error.message, true);
      return null;
    } finally {
      busy -= 1;
      if (!busy) document.body.removeAttribute("aria-busy");
    }
  }

  // ---------------------------------------------------------------- tables and effects

  function showState(next) {
    if (!next) return;
    state = next;
    byId("undo").disabled = !state.undo;
    byId("redo").disabled = !state.redo;
    byId("save").disabled = !state.unsaved;
    byId("cut-off").value = state.lowest_score ?? state.cut_off;
    byId("by").value = state.by;
    const most = Math.max(...state.tables.map((t) => t.importance), 1e-9);
    byId("tables").replaceChildren(...state.tables.map((t) => listed(t, most)));
    byId("history").replaceChildren(...state.history.map(remembered));
    byId("no-history").hidden = state.history.length > 0;
    if (state.earlier) byId("no-history").textContent = `No new changes. Changes recorded in the model file: ${state.earlier}.`;
    showEffects(null);
  }

  function listed(own, most) {
    const button = make("button", { type: "button" }, own.shown);
    button.append(make("span", { className: "gauge", style: `inline-size: ${(100 * own.importance) / most}%` }));
    button.title = `importance ${number ? digits(own.importance) : read(own.importance)}`;
    button.setAttribute("aria-current", String(own.name === table?.name));
    button.addEventListener("click", () => open(own.name));
    return make("li", {}, button);
  }

  function remembered(change) {
    const line = make("li");
    const sign = change.difference > 0 ? "+" : "";
    line.append(make("b", { textContent: change.why }), make("br"), change.text, make("br"));
    line.append(make("span", {
      className: "soft",
      textContent: `${change.who}, ${change.when.slice(0, 16).replace("T", " ")} UTC; ${number ? "deviance" : "loss"} ${sign}${change.difference.toFixed(4)}${UNIT}${change.refit ? "; refitted" : ""}`,
    }));
    return line;
  }

  function showEffects(after) {
    const { before, now } = state.effects;
    const cell = (effects, name, text) =>
      make("td", { className: "number", textContent: !effects ? "" : effects[name] === null ? "–" : text(effects[name]) });
    byId("effects").tBodies[0].replaceChildren(...MEASURES.map(([name, title, text]) => {
      const row = make("tr", {}, make("th", { scope: "row", textContent: title }));
      row.append(...[before, now, after].map((effects) => cell(effects, name, text)));
      return row;
    }));
    byId("groups-box").hidden = now.groups.length === 0;
    const last = after ?? now;
    byId("groups").tBodies[0].replaceChildren(...last.groups.map((group, k) => {
      const base = (after ? now : before).groups[k];
      const row = make("tr", {}, make("th", { scope: "row", textContent: group.name }));
      const texts = [group.rows.toLocaleString("en"), ...(number ? ofNumber(group, base) : ofClass(group, base))];
      row.append(...texts.map((text) => make("td", { className: "number", textContent: text })));
      return row;
    }));
    byId("calibration").innerHTML = last.calibration;
  }

  function ofClass(group, base) {
    const change = base ? (group.above - base.above) * (about.approves === "below" ? -1 : 1) : 0;
    return [percent(group.observed), percent(group.mean_prediction), share(group.above), `${change > 0 ? "+" : ""}${(100 * change).toFixed(1)}`];
  }

  function ofNumber(group, base) {
    const change = base ? group.mean_prediction - base.mean_prediction : 0;
    return [digits(group.observed), digits(group.mean_prediction), `${change > 0 ? "+" : ""}${digits(change)}`];
  }

  // ---------------------------------------------------------------- the open table

  async function open(name) {
    const found = await ask(`table?name=${encodeURIComponent(name)}`);
    if (!found) return;
    cancel();
    selected.clear();
    showTable(found);
    for (const button of byId("tables").querySelectorAll("button"))
      button.setAttribute("aria-current", String(button.firstChild.textContent === found.shown));
  }

  // Shows a table to edit, or (tried) a read-only preview of a change.
  function showTable(next, tried = false) {
    table = next;
    byId("name").textContent = tried ? `${table.shown}, with this change` : table.shown;
    byId("shape").innerHTML = table.shape?.svg ?? "";
    byId("how").hidden = tried || !table.shape;
    if (table.shape && !tried) addHandles();
    byId("cut-head").hidden = !table.shape;
    byId("levels").tBodies[0].replaceChildren(...table.levels.map(levelRow));
    for (const button of document.querySelectorAll("[data-do]")) {
      const needs = { rise: table.ordered, fall: table.ordered, merge: !table.pair, rename: !table.pair };
      button.disabled = tried || needs[button.dataset.do] === false;
    }
    document.querySelector("[data-do=drop]").hidden = table.pair;
    document.querySelector("[data-do=remove_pair]").hidden = !table.pair;
    const others = table.pair ? [] : state.tables.filter((t) => !t.pair && t.name !== table.name);
    byId("other").replaceChildren(...others.map((t) => new Option(t.shown, t.name)));
    byId("pair-box").hidden = others.length === 0;
    for (const input of byId("levels").querySelectorAll("input")) input.disabled = tried;
    showSelection(tried);
  }

  function levelRow(level, k) {
    const box = make("input", { type: "checkbox" });
    box.setAttribute("aria-label", `Select ${level.text}`);
    box.addEventListener("change", () => select(k, box.checked));
    const weight = make("input", { type: "number", step: number ? "any" : "1", value: read(level.weight) });
    if (factors) weight.min = 1e-6;
    const named = factors ? "Factor" : number ? "Change" : about.points ? "Points" : "Weight";
    weight.setAttribute("aria-label", `${named} of ${level.text}${number || about.points ? "" : ", times 100"}`);
    weight.addEventListener("change", () => {
      if (weight.value === "") return;
      const typed = unread(Number(weight.value));
      if (Number.isFinite(typed)) propose("set", { feature: table.name, level: level.label, weight: typed });
      else say("A factor must be above 0.", true);
    });
    const cut = table.shape?.cuts[k];
    const limit = make("td");
    limit.hidden = !table.shape;
    if (cut !== undefined) {
      const input = make("input", { type: "number", step: "any", value: Number(cut.toPrecision(12)) });
      input.setAttribute("aria-label", `Upper limit of ${level.text}`);
      input.addEventListener("change", () => input.value !== "" && moveCut(cut, Number(input.value)));
      limit.append(input);
    }
    const cell = (text) => make("td", { className: "number", textContent: text });
    const row = make("tr", {}, make("td", {}, box), make("th", { scope: "row", textContent: level.text }), limit);
    row.append(cell(Math.round(level.rows).toLocaleString("en")));
    if (!number) row.append(cell(level.rate === null ? "–" : percent(level.rate)));
    row.append(make("td", {}, weight), make("td", {}, bar(level.bar)));
    return row;
  }

  function bar(share) {
    const svg = draw("svg", { class: "bar", viewBox: "0 0 160 14", "aria-hidden": "true" });
    const width = 80 * Math.abs(share);
    svg.append(draw("path", { d: "M80 0V14" }), draw("rect", {
      class: share > 0 ? "for" : "against", x: share > 0 ? 80 : 80 - width, y: 3, width, height: 8,
    }));
    return svg;
  }

  // Bins to click and cut points to drag; the table below offers the same to the keyboard.
  function addHandles() {
    const { edges, cuts, frame } = table.shape;
    const svg = byId("shape").querySelector("svg");
    const foot = Number(svg.querySelector(".frame").getAttribute("height")) + frame.top;
    edges.slice(0, -1).forEach((x, k) => {
      const bin = draw("rect", { class: "bin", x, y: frame.top, width: edges[k + 1] - x, height: foot - frame.top });
      bin.addEventListener("pointerdown", (event) => press(event, svg, k));
      svg.append(bin);
    });
    const radius = cuts.length > 20 ? 2.2 : 3.5;
    cuts.forEach((cut, k) => {
      const x = edges[k + 1];
      const line = draw("path", { class: "cut", d: `M${x} ${frame.top}V${foot}` });
      const knob = draw("circle", { class: "knob", cx: x, cy: foot, r: radius });
      for (const part of [line, knob]) part.addEventListener("pointerdown", (event) => drag(event, svg, knob, k));
      svg.append(line, knob);
    });
  }

  const within = (value, low, high) => Math.min(Math.max(value, low), high);

  function placeOf(event, svg) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  }

  function follow(start, move, drop) {
    start.preventDefault();
    const end = (event) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      drop(event);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  function drag(start, svg, knob, k) {
    const { edges, cuts } = table.shape;
    const place = (event) => within(placeOf(event, svg).x, edges[k] + 0.5, edges[k + 2] - 0.5);
    follow(start, (event) => knob.setAttribute("cx", place(event)), (event) => {
      const to = valueAt(place(event), k);
      if (to !== cuts[k]) moveCut(cuts[k], to);
    });
  }

  // A click selects a bin; dragging it up or down sets its weight.
  function press(start, svg, k) {
    const { edges, frame } = table.shape;
    const from = placeOf(start, svg).y;
    const line = draw("path", { class: "level" });
    const height = (event) => within(placeOf(event, svg).y, frame.top, frame.bottom);
    const moved = (event) => Math.abs(placeOf(event, svg).y - from) > STILL;
    const move = (event) => {
      if (!moved(event)) return;
      if (!line.isConnected) svg.append(line);
      line.setAttribute("d", `M${edges[k]} ${height(event)}H${edges[k + 1]}`);
    };
    follow(start, move, (event) => {
      line.remove();
      if (!moved(event)) return select(k, !selected.has(k));
      const share = (height(event) - frame.top) / (frame.bottom - frame.top);
      const exact = frame.high - share * (frame.high - frame.low);
      const weight = number ? unread(read(exact)) : Math.round(SCALE * exact) / SCALE;
      propose("set", { feature: table.name, level: table.levels[k].label, weight });
    });
  }

  // The number at a position between the neighbours of a cut point, rounded to what is visible.
  function valueAt(x, k) {
    const { edges, cuts, scale } = table.shape;
    const on = scale === "log" ? Math.log : (v) => v;
    const off = scale === "log" ? Math.exp : (v) => v;
    const left = x <= edges[k + 1];
    const [near, far] = left ? [k, k - 1] : [k, k + 1];
    let ends = [[edges[near + 1], on(cuts[near])], [edges[far + 1], on(cuts[far] ?? NaN)]];
    if (cuts[far] === undefined) { // beyond the last cut point the axis goes on as between the outer two
      const other = cuts.length > 1 ? (left ? 1 : cuts.length - 2) : null;
      if (other === null) return cuts[k];
      ends = [[edges[near + 1], on(cuts[near])], [edges[other + 1], on(cuts[other])]];
    }
    const slope = (ends[1][1] - ends[0][1]) / (ends[1][0] - ends[0][0]);
    const value = off(ends[0][1] + slope * (x - ends[0][0]));
    const step = Math.abs(off(ends[0][1] + slope) - off(ends[0][1])) || 1;
    const digits = Math.max(0, Math.ceil(-Math.log10(step)));
    return Number(value.toFixed(Math.min(digits, 12)));
  }

  function select(k, on) {
    on ? selected.add(k) : selected.delete(k);
    showSelection();
  }

  function showSelection(tried = false) {
    const on = (k) => !tried && selected.has(k); // a preview may have other levels
    byId("levels").querySelectorAll("input[type=checkbox]").forEach((box, k) => (box.checked = on(k)));
    byId("shape").querySelectorAll(".bin").forEach((bin, k) => bin.classList.toggle("on", on(k)));
    for (const [verb, may] of [["merge", !table.pair], ["tie", true]])
      document.querySelector(`[data-do=${verb}]`).disabled = tried || !may || selected.size < 2;
    document.querySelector("[data-do=rename_level]").disabled = tried || table.pair || selected.size !== 1;
  }

  // ---------------------------------------------------------------- changes

  const chosen = () => [...selected].sort((a, b) => a - b).map((k) => table.levels[k].label);
  const moveCut = (cut, to) => propose("move_cut", { feature: table.name, cut, to });

  async function propose(action, given) {
    const found = await ask("preview", { action, arguments: given });
    if (!found) return showTable(table); // restores the previous text
    proposed = { action, arguments: given, table };
    say("");
    byId("proposed").textContent = `${given.feature ? `${table.shown}: ` : ""}${TELL[action](given)}?`;
    const change = found.effects.loss - state.effects.now.loss;
    const size = number ? digits(Math.abs(change)) : `${Math.abs(change).toFixed(4)} bits a row`;
    const small = number ? 1e-9 * Math.abs(state.effects.now.loss) : 5e-5;
    const what = number ? "mean deviance" : "loss";
    const word = Math.abs(change) < small ? `does not change the ${what}` : `${change > 0 ? "raises" : "lowers"} the ${what} by ${size}`;
    byId("verdict").textContent = `It ${word}.`;
    byId("proposal").hidden = false;
    byId("refit").checked = false;
    byId("refit").closest("p").hidden = UNFITTED.has(action);
    showTable(found.table ?? table, true);
    showEffects(found.effects);
    byId("why").focus();
  }

  function cancel() {
    byId("proposal").hidden = true;
    byId("why").value = "";
    if (!proposed) return;
    const back = proposed.table;
    proposed = null;
    showTable(back);
    showEffects(null);
  }

  async function accept(event) {
    event.preventDefault();
    if (busy || !proposed) return;
    const { action, arguments: given } = proposed;
    const refit = byId("refit").checked && !UNFITTED.has(action);
    if (refit) say("Refitting the other tables…");
    const changes = state.history.length;
    const next = await ask("accept", { action, arguments: given, why: byId("why").value, refit, changes });
    if (!next) return;
    proposed = null;
    byId("proposal").hidden = true;
    byId("why").value = byId("new-name").value = "";
    showState(next);
    say("Accepted, not saved yet.");
    reopen();
  }

  function reopen() {
    const there = state.tables.some((t) => t.name === table?.name);
    return open(there ? table.name : state.tables[0].name);
  }

  const WORK = {
    merge: () => propose("merge", { feature: table.name, levels: chosen() }),
    tie: () => propose("tie", { feature: table.name, levels: chosen() }),
    rise: () => propose("monotone", { feature: table.name, direction: 1 }),
    fall: () => propose("monotone", { feature: table.name, direction: -1 }),
    freeze: () => propose("freeze", { feature: table.name }),
    drop: () => propose("drop", { feature: table.name }),
    scale: () => propose("scale", { feature: table.name, factor: Number(byId("factor").value) }),
    rename: () => rename((name) => ({ name, levels: {} })),
    rename_level: () => rename((name) => ({ name: "", levels: { [chosen()[0]]: name } })),
    add_pair: () => propose("add_pair", { first: table.name, second: byId("other").value }),
    remove_pair: () => propose("remove_pair", { first: table.parts[0], second: table.parts[1] }),
  };

  function rename(given) {
    const name = byId("new-name").value.trim();
    if (name) return propose("rename", { feature: table.name, ...given(name) });
    say("Type the new name first.", true);
    byId("new-name").focus();
  }

  async function turn(verb, told) {
    if (busy) return;
    cancel();
    const next = await ask(verb, verb === "save" ? {} : { changes: state.history.length });
    if (!next) return;
    showState(next);
    say(told);
    await reopen();
  }

  // ---------------------------------------------------------------- start

  for (const button of document.querySelectorAll("[data-do]"))
    button.addEventListener("click", () => WORK[button.dataset.do]());
  byId("proposal").addEventListener("submit", accept);
  byId("cancel").addEventListener("click", cancel);
  byId("undo").addEventListener("click", () => turn("undo", "The last change was undone."));
  byId("redo").addEventListener("click", () => turn("redo", "The change was made again."));
  byId("save").addEventListener("click", () => turn("save", `Saved: ${about.output}, and the changes in ${about.log}.`));
  for (const id of ["cut-off", "by"])
    byId(id).addEventListener("change", async () => {
      cancel();
      showState(await ask("look", { cut_off: byId("cut-off").value, by: byId("by").value }));
    });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && proposed) cancel();
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && event.target.tagName !== "INPUT") {
      event.preventDefault();
      byId(event.shiftKey ? "redo" : "undo").click();
    }
  });
  byId("by").append(...about.columns.map((name) => new Option(name, name)));
  if (about.judged)
    byId("refit").parentElement.append(" (without --train it is fitted to the rows shown here, so its loss is too favourable)");
  byId("rows").textContent = about.rows.toLocaleString("en");
  if (about.approves) {
    document.body.classList.add(about.approves === "below" ? "adverse-for" : "adverse-against");
    byId("share-head").textContent = "Approval rate";
    const side = about.approves === "below" ? "at most" : "above";
    byId("cut-off-name").textContent = `Approve if the probability of ${about.positive} is ${side}`;
  }
  if (about.card) {
    Object.assign(byId("cut-off"), { min: "", max: "", step: 1 });
    const verb = about.approves ? "Approve" : "Count";
    byId("cut-off-name").textContent = `${verb} if the score is ${about.approves === "below" ? "below" : "at least"}`;
  }
  if (about.points) {
    byId("weight-head").textContent = "Points";
    byId("factor-name").textContent = "Multiply points by";
    document.querySelector("[data-do=tie]").textContent = "Same points for selected";
  }
  if (number) {
    byId("weight-head").textContent = factors ? "Factor" : "Change";
    byId("side-head").textContent = "Down | up";
    byId("factor-name").textContent = factors ? "Raise factors to the power" : "Multiply changes by";
    document.querySelector("[data-do=tie]").textContent = `Same ${NOUN} for selected`;
    byId("how").textContent = byId("how").textContent.replace("change it", "change its estimate");
    for (const id of ["rate-head", "share-head", "cut-off", "cut-off-name"]) byId(id).hidden = true;
  }
  for (const id of ["rename", "rename_level"]) document.querySelector(`[data-do=${id}]`).hidden = about.card;
  byId("new-name").parentElement.hidden = about.card;
  byId("rate-head").textContent = `Share of ${about.positive}`;
  const meaning = factors
    ? `Factors above 1 raise the estimate of ${about.positive}`
    : number ? `Changes are in the unit of ${about.positive}` : `Positive ${PLURAL} favour ${about.positive}`;
  byId("about").textContent = `${meaning}. Save writes ${about.output}.`;
  ask("state").then((first) => {
    if (!first) return;
    showState(first);
    if (about.continued) say(`Continued with ${about.continued} changes that were not saved.`);
    open(first.tables[0].name);
  });
})();
