// The form: questions, the base rate, and the case in the address.
(() => {
  const model = weigh.open(JSON.parse(document.getElementById("model").textContent));
  const { columns } = model;
  const classes = model.classTexts;
  const two = classes.length === 2;
  const RADIOS = 4;
  const LISTED = 8; // maximum number of unused parts of the address that are listed
  const LIMIT = 7; // limit of the slider, in log odds: 0.1% to 99.9%
  const { byId, make, percent, readNumber } = words;
  const isNumber = model.link === "identity" || model.link === "log";
  const show = isNumber ? numberView(model) : sheetView(model);
  let later = 0;
  const state = { answers: [], of: null, against: null, rate: null, rateOf: model.of ?? 0 };

  // ---------------------------------------------------------------- questions

  function question(column, j) {
    const choice = column.choices?.length > RADIOS ? list : radios;
    const kinds = { choice, number, count, exposure: known, offset: known };
    const control = kinds[column.kind](column, j);
    control.box.id = `q${j}`;
    return control;
  }

  function answer(j, value) {
    state.answers[j] = value;
    update();
  }

  function title(column) {
    return column.text ?? column.title ?? column.name;
  }

  function choicesOf(column) {
    const texts = column.texts ?? column.choices;
    const known = texts.map((text, place) => [String(place), text]);
    const other = column.closed ? [] : [[String(column.choices.length), "Another"]];
    const missing = column.missing ? [[weigh.MISSING, "Missing"]] : [];
    return [["", "Not known"], ...known, ...other, ...missing];
  }

  const placeOf = (value) =>
    value === "" ? null : value === weigh.MISSING ? value : Number(value);

  function list(column, j) {
    const select = make("select", { id: `a${j}` });
    select.append(...choicesOf(column).map(([value, text]) => new Option(text, value)));
    select.addEventListener("change", () => answer(j, placeOf(select.value)));
    const box = make("div", { className: "question" });
    box.append(make("label", { htmlFor: select.id, textContent: title(column) }), select);
    return { box, show: (value) => (select.value = value ?? "") };
  }

  function radios(column, j) {
    const box = make("fieldset", { className: "question" });
    box.append(make("legend", { textContent: title(column) }));
    const row = make("div", { className: "row" });
    const inputs = choicesOf(column).map(([value, text], k) => {
      const input = make("input", { type: "radio", name: `a${j}`, id: `a${j}-${k}`, value });
      input.addEventListener("change", () => answer(j, placeOf(value)));
      row.append(
        make(
          "label",
          { className: "choice", htmlFor: input.id },
          input,
          make("span", { textContent: text }),
        ),
      );
      return input;
    });
    box.append(row);
    const show = (value) =>
      inputs.forEach((input) => (input.checked = input.value === String(value ?? "")));
    return { box, show };
  }

  // Text field for a number, which may have a decimal comma, and the line below it.
  function decimal(j) {
    const kind = { type: "text", inputMode: "decimal", autocomplete: "off" };
    const input = make("input", { ...kind, id: `a${j}` });
    const hint = make("span", { className: "hint", id: `h${j}` });
    input.setAttribute("aria-describedby", hint.id);
    return { input, hint };
  }

  // Input of a number, with its bin, and buttons for special codes and for missing.
  const FAR = ". Far beyond the bins of the training rows: check the value and its unit";
  const OUTSIDE = ". Outside 0 to 1, the values of the training rows";

  function number(column, j) {
    let missing = false;
    const { input, hint } = decimal(j);
    const part = model.parts.find((p) => p.column === j);
    const special = [null, ...(column.missing ? [weigh.MISSING] : []), ...column.codes];
    const buttons = special.map((code) => {
      const own = column.codeTexts?.[column.codes.indexOf(code)];
      const text =
        code === null ? "Not known" : code === weigh.MISSING ? "Missing" : own || `Code ${code}`;
      const button = make("button", { type: "button", className: "code", textContent: text });
      button.addEventListener("click", () => {
        show(code);
        answer(j, code);
      });
      return [code, button];
    });
    const read = () => (missing ? weigh.MISSING : readNumber(input.value));
    function tell() {
      const value = read();
      const odd = Number.isNaN(value);
      input.setAttribute("aria-invalid", odd);
      const place = odd ? -1 : weigh.place(part, value);
      const plain = input.value.includes(",") ? `Read as ${value}. ` : "";
      const far = weigh.isFar(part, value) ? FAR : "";
      const outside = weigh.isOutside(part, value) ? OUTSIDE : "";
      const level = value === null ? "" : `${plain}Level: ${weigh.tell(part, place, value)}${outside}${far}`;
      hint.textContent = odd ? "Not a number: taken as not known" : level;
      for (const [code, button] of buttons) button.setAttribute("aria-pressed", value === code);
      return odd ? null : value;
    }
    function show(value) {
      missing = value === weigh.MISSING;
      if (missing) input.value = "";
      else if (readNumber(input.value) !== value) input.value = value ?? "";
      tell();
    }
    input.addEventListener("input", () => {
      missing = false;
      answer(j, tell());
    });
    const row = make("div", { className: "row" }, input, ...buttons.map(([, button]) => button));
    const label = make("label", { htmlFor: input.id, textContent: title(column) });
    buttons.forEach(([, button]) => button.setAttribute("aria-describedby", (label.id = `l${j}`)));
    return { box: make("div", { className: "question" }, label, row, hint), show };
  }

  // Input of an exposure or an offset, which have no levels.
  const USES = {
    exposure: "Exposure: the estimate is multiplied by it. Empty means 1.",
    offset: "Offset: it is added to the total. Empty means 0.",
  };

  function known(column, j) {
    const { input, hint } = decimal(j);
    const low = column.kind === "exposure" ? 0 : -Infinity;
    function read() {
      const value = readNumber(input.value);
      const odd = value !== null && !(value > low);
      input.setAttribute("aria-invalid", odd);
      const wanted = column.kind === "exposure" ? "Not a number above 0" : "Not a number";
      hint.textContent = odd ? `${wanted}: taken as empty` : USES[column.kind];
      return odd ? null : value;
    }
    input.addEventListener("input", () => answer(j, read()));
    function show(value) {
      if (readNumber(input.value) !== value) input.value = value ?? "";
      read();
    }
    const label = make("label", { htmlFor: input.id, textContent: title(column) });
    return { box: make("div", { className: "question" }, label, input, hint), show };
  }

  function count(column, j) {
    const input = make("input", { type: "number", min: 0, step: 1, id: `a${j}`, placeholder: "0" });
    input.addEventListener("input", () => answer(j, Math.max(Number(input.value), 0) || null));
    const label = make("label", { htmlFor: input.id, textContent: title(column) });
    return {
      box: make("div", { className: "question" }, label, input),
      show: (value) => (input.value = value ?? ""),
    };
  }

  // A question is asked if all questions that it depends on have one of the required levels.
  function isAsked(j) {
    return (columns[j].ask ?? []).every(([parent, levels]) => {
      const given = state.answers[parent] ?? null;
      if (given === null) return false;
      const number = columns[parent].kind === "number";
      const part = number && model.parts.find((p) => p.column === parent);
      return levels.includes(part ? weigh.place(part, given) : given);
    });
  }

  // ---------------------------------------------------------------- the case

  function rates() {
    if (state.rate === null) return null;
    const [at, p, old] = [state.rateOf, state.rate, model.rates];
    return old.map((r, c) => (c === at ? p : (r * (1 - p)) / (1 - old[at])));
  }

  function update() {
    controls.forEach((control, j) => (control.box.hidden = !isAsked(j)));
    const answers = columns.map((_, j) => (isAsked(j) ? (state.answers[j] ?? null) : undefined));
    if (isNumber) show(numbers.sheet(model, answers));
    else {
      const answered = answers.some((answer) => (answer ?? null) !== null);
      show({ ...weigh.sheet(model, answers, { ...state, rate: rates() }), answered });
      showRate();
    }
    showCase();
    clearTimeout(later); // browsers limit how often the address may change
    later = setTimeout(writeFragment, 150);
  }

  // ---------------------------------------------------------------- the printout

  function answerText(column, j) {
    const value = state.answers[j] ?? null;
    if (value === null) return "Not known";
    if (value === weigh.MISSING) return "Missing";
    if (column.kind !== "choice") {
      const own = column.codeTexts?.[column.codes.indexOf(value)];
      return own || String(value);
    }
    return (column.texts ?? column.choices)[value] ?? "Another";
  }

  // The answers for the printout: every question that is asked, with its answer.
  function showCase() {
    const rows = columns.flatMap((column, j) =>
      isAsked(j)
        ? [
            make(
              "tr",
              {},
              make("th", { scope: "row", textContent: title(column) }),
              make("td", { textContent: answerText(column, j) }),
            ),
          ]
        : [],
    );
    byId("entered").replaceChildren(...rows);
    const number = byId("case-number").value.trim();
    byId("printed-case").textContent = number ? `Case ${number}` : "Case without a number";
    byId("printed-on").textContent = new Date().toLocaleString(undefined, {
      dateStyle: "long",
      timeStyle: "short",
    });
  }

  // ---------------------------------------------------------------- the base rate

  function showRate() {
    const p = state.rate ?? model.rates[state.rateOf];
    const slider = byId("rate");
    byId("rate-name").textContent = `Base rate of ${classes[state.rateOf]}`;
    if (document.activeElement !== slider) slider.value = weigh.logit(p);
    slider.setAttribute("aria-valuetext", percent(p));
    const exact = byId("rate-exact");
    if (document.activeElement !== exact) exact.value = Number((100 * p).toPrecision(4));
    byId("rate-reset").disabled = state.rate === null;
    byId("rate-reset").textContent = `As in the model, ${percent(model.rates[state.rateOf])}`;
  }

  function setUpRate() {
    const [slider, exact] = [byId("rate"), byId("rate-exact")];
    Object.assign(slider, { min: -LIMIT, max: LIMIT, step: 0.01 });
    slider.addEventListener("input", () =>
      setRate(Number(weigh.expit(Number(slider.value)).toPrecision(4))),
    );
    exact.addEventListener("input", () => {
      const p = readNumber(exact.value) / 100;
      const sound = p > 0 && p < 1;
      exact.setAttribute("aria-invalid", !sound);
      if (sound) setRate(p);
    });
    byId("rate-reset").addEventListener("click", () => setRate(null));
  }

  function setRate(p) {
    state.rate = p;
    update();
  }

  function setUpClasses() {
    if (two || isNumber) return;
    const options = (first) => [...first, ...classes.map((name, c) => new Option(name, c))];
    const [of, against, rateOf] = [byId("of"), byId("versus"), byId("rate-of")];
    of.append(...options([new Option("the most probable class", "")]));
    against.append(...options([new Option("all the others", "")]));
    against.disabled = model.link === "ovr";
    rateOf.append(...options([]));
    of.addEventListener("change", () => {
      state.of = placeOf(of.value);
      if (state.against === state.of) state.against = null;
      showChoice();
    });
    against.addEventListener("change", () => {
      state.against = placeOf(against.value);
      const now = weigh.sheet(
        model,
        columns.map((_, j) => state.answers[j] ?? null),
        { rate: rates() },
      );
      if (state.against !== null && state.of === null) state.of = now.of;
      if (state.against === state.of) state.of = null;
      if (state.of === null) state.against = null;
      showChoice();
    });
    rateOf.addEventListener("change", () => {
      state.rateOf = Number(rateOf.value);
      setRate(null);
    });
    byId("many").hidden = false;
    byId("rate-class").hidden = false;
  }

  function showChoice() {
    if (!two && !isNumber) {
      byId("of").value = state.of ?? "";
      byId("versus").value = state.against ?? "";
      byId("rate-of").value = state.rateOf;
    }
    update();
  }

  // ---------------------------------------------------------------- the case in the address

  const address = addressOf(model);

  function writeFragment() {
    const text = address.write(state, isAsked);
    if (text !== location.hash.slice(1)) history.replaceState(null, "", `#${text}`);
  }

  function readFragment() {
    const { found, ignored } = address.read(location.hash.slice(1));
    Object.assign(state, found);
    columns.forEach((column, j) => {
      controls[j].show(state.answers[j]);
      if (state.answers[j] !== null && !isAsked(j)) ignored.push(`${column.name} (not asked here)`);
    });
    showIgnored(ignored);
    showChoice();
  }

  function showIgnored(ignored) {
    const rest = ignored.length > LISTED ? `; and ${ignored.length - LISTED} more` : "";
    byId("ignored").hidden = !ignored.length;
    byId("ignored").textContent = ignored.length
      ? `Not used of this page's address: ${ignored.slice(0, LISTED).join("; ")}${rest}.`
      : "";
  }

  byId("case-number").addEventListener("input", showCase);
  window.addEventListener("beforeprint", showCase);
  const controls = columns.map(question);
  byId("questions").append(...controls.map((control) => control.box));
  byId("population").hidden = isNumber;
  setUpRate();
  setUpClasses();
  readFragment();
  window.addEventListener("hashchange", readFragment);
  byId("clear").addEventListener("click", () => {
    history.replaceState(null, "", "#");
    readFragment();
  });
  byId("calculator").hidden = false;
  globalThis.weigh = weigh;
  performance.mark("usable");
})();
