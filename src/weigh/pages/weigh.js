// The arithmetic of a model: answers in, a balance sheet out. No page is needed to run it.
// An answer is a number (the index of a choice, a measured number, the count of a token), MISSING
// if the data have no value, null if it is not known, or undefined if it was not asked.
"use strict";
const weigh = (() => {
  const UNSEEN = "not seen in training";
  const MISSING = "missing";
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const dot = (a, b) => sum(a.map((x, i) => x * b[i]));
  const expit = (x) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
  const logit = (p) => Math.log(p) - Math.log1p(-p);

  function unpack(text, Type) {
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Type(bytes.buffer);
  }

  // Numbers by level and class: stored in full, or as indices into the distinct values.
  function rowsOf(text, width, pool) {
    if (text === null) return null;
    const places = pool && unpack(text, Uint16Array);
    const flat = pool ? Array.from(places, (at) => pool[at]) : Array.from(unpack(text, Float64Array));
    return Array.from({ length: flat.length / width }, (_, i) =>
      flat.slice(i * width, (i + 1) * width),
    );
  }

  // Values that are looked up at every keystroke are computed once.
  function open(model) {
    let start = 1;
    const pool = model.pool && unpack(model.pool, Float64Array);
    for (const part of model.parts) {
      part.labels ??= [...model.columns[part.column].choices, "missing"];
    }
    for (const table of model.tables) {
      table.uses = table.parts.map((p) => model.parts[p]);
      table.weights = rowsOf(table.weights, model.prior.length, pool);
      table.variances = rowsOf(table.variances, model.classes.length, pool);
      if (table.share) table.share = Array.from(unpack(table.share, Float64Array));
      table.start = start;
      start += table.weights.length;
      table.unseen = new Set(table.unseen);
      if (table.pairs) {
        table.place = new Map(table.pairs.map((pair, place) => [pair.join(","), place]));
      }
    }
    const packed = model.covariance;
    if (model.spread) {
      model.spread.errors = Array.from(unpack(model.spread.errors, Float64Array));
    }
    if (packed) packed.numbers = unpack(packed.data, packed.errors ? Int16Array : Float64Array);
    return model;
  }

  // ---------------------------------------------------------------- levels

  // The index of an answer's level in a column; -1 means none. Bins include their upper limit. A
  // choice without a level of its own has the level `other`, if there is one.
  function place(part, answer) {
    if (answer === null || answer === undefined) return -1;
    if (answer === MISSING) return part.missing;
    if (!part.cuts) {
      const known = (part.places ? part.places[answer] : answer < part.n ? answer : -1) ?? -1;
      return known < 0 ? (part.rest ?? -1) : known;
    }
    const special = part.specials.indexOf(answer);
    if (special >= 0) return part.cuts.length + 1 + special;
    let [low, high] = [0, part.cuts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (part.cuts[middle] < answer) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Whether a number lies beyond the cut points by more than their own distance.
  function isFar(part, answer) {
    const { cuts } = part;
    if (typeof answer !== "number" || cuts.length < 10 || part.specials.includes(answer)) return false;
    const [first, last] = [cuts[0], cuts[cuts.length - 1]];
    return answer < first - (last - first) || answer > last + (last - first);
  }

  // A bin of one whole number is told with the number that was typed, if it is another one. The
  // number is that of the bin, as its label may be the user's.
  function tell(part, at, answer) {
    const text = part.labels[at];
    const odd = typeof answer === "number" && answer !== (part.singles?.[at] ?? answer);
    return odd ? `${Number(answer.toPrecision(10))} (read as ${text})` : text;
  }

  // Whether a number lies outside 0 to 1 in a column of 0 and 1.
  const isOutside = (part, answer) =>
    typeof answer === "number" &&
    (answer < 0 || answer > 1) &&
    part.singles?.join() === "0,1" &&
    !part.specials.includes(answer);

  const spell = (part, at, answer, model) =>
    at >= 0
      ? tell(part, at, answer)
      : answer === null
        ? "not known"
        : answer === MISSING
          ? MISSING
          : model.other;

  // No relation is written before a bin in words, unless it is one whole number or has a name.
  function relation(table, at) {
    if (table.uses.length > 1) return "=";
    const { cuts, equals } = table.uses[0];
    const interval = at >= 0 && cuts && at <= cuts.length;
    return interval && !equals?.includes(at) ? "" : "=";
  }

  const named = (model, part) => model.columns[part.column].title ?? model.columns[part.column].name;
  const titleOf = (model, table) => table.uses.map((part) => named(model, part)).join(" & ");

  // The table and its level in words; a pair as two phrases.
  function wordsOf(model, table, places, given, at, label) {
    if (table.uses.length === 1)
      return phrase(titleOf(model, table), at < 0 ? "=" : relation(table, at), label);
    const parts = table.uses.map((part, i) =>
      phrase(
        named(model, part),
        relation({ uses: [part] }, places[i]),
        given[i] === undefined ? "not asked" : spell(part, places[i], given[i], model),
      ),
    );
    return parts.join(" with ");
  }

  const phrase = (...words) => words.filter(Boolean).join(" ");

  // The line of a table: the level of the answers, its weights and variances by class, and a note
  // why it weighs nothing.
  function line(model, table, answers) {
    const given = table.uses.map((part) => answers[part.column]);
    const asked = given.every((answer) => answer !== undefined);
    const unknown = asked && given.includes(null);
    const skips = unknown || table.uses.some((part, i) => part.skip && given[i] === MISSING);
    const blank = unknown || given.includes(MISSING);
    const places = table.uses.map((part, i) => place(part, given[i]));
    const at = table.place ? (table.place.get(places.join(",")) ?? -1) : places[0];
    const told = asked || at >= 0;
    const said = given.map((answer, i) => (at >= 0 && places[i] < 0 ? null : answer));
    const quote = table.quoted && at >= 0 ? '"' : "";
    const words = told
      ? table.uses.map((part, i) => quote + spell(part, places[i], said[i], model) + quote)
      : ["not asked"];
    const label = words.join(" & ");
    const nothing = !asked || skips ? "no evidence" : UNSEEN;
    return {
      feature: table.name,
      title: titleOf(model, table),
      label,
      words: wordsOf(model, table, places, said, at, label),
      relation: told ? relation(table, at) : "=",
      level: at,
      at: at < 0 ? -1 : table.start + at,
      known: at >= 0 || !asked || blank,
      leftOut: at < 0 && asked && blank && !table.uses.some((part) => part.skip),
      answered: asked && !skips,
      unknown,
      columns: table.uses.map((part) => part.column),
      blanks: table.uses.flatMap((part, i) => (asked && given[i] === null ? [part.column] : [])),
      note: at < 0 ? nothing : table.unseen.has(at) ? UNSEEN : table.note,
      weights: at < 0 ? model.prior.map(() => 0) : table.weights[at],
      variances: at < 0 ? model.classes.map(() => 0) : table.variances && table.variances[at],
    };
  }

  // The lines of a document's tokens: weight times count.
  function tokenLines(model, answers) {
    const table = model.tables[0];
    const lines = [];
    table.weights.forEach((weights, at) => {
      const times = answers[at];
      if (!times) return;
      lines.push({
        feature: model.columns[at].name,
        title: model.columns[at].title ?? model.columns[at].name,
        words: `${model.columns[at].title ?? model.columns[at].name} = ${times}`,
        label: String(times),
        relation: "=",
        times,
        note: table.unseen.has(at) ? UNSEEN : "",
        weights: weights.map((w) => times * w),
        own: table.variances && table.variances[at],
      });
    });
    return lines;
  }

  // ---------------------------------------------------------------- totals

  // A changed base rate changes the prior, or the shift after the exponent or the recalibration.
  function change(model, rate) {
    const same = { prior: model.prior, shift: 0, after: 0, variances: model.priorVariances };
    const rule = model.attenuation;
    const { curve } = model;
    if (rule) same.shift = rule.shift;
    if (curve) same.after = curve.shift;
    if (!rate) return same;
    const logs = rate.map((p, c) => Math.log(p) - Math.log(model.rates[c]));
    const mean = sum(logs) / logs.length;
    const move =
      model.link === "ovr"
        ? rate.map((p, c) => logit(p) - logit(model.rates[c]))
        : model.prior.length === 1
          ? [logs[1] - logs[0]]
          : logs.map((x) => x - mean);
    if (curve) return { ...same, after: curve.shift + move[0] };
    const variances = model.knownRate ? model.classes.map(() => 0) : null;
    if (rule && !rule.shares) return { ...same, shift: rule.shift.map((x, k) => x + move[k]), variances };
    return { ...same, prior: model.prior.map((x, k) => x + move[k]), variances };
  }

  function exponent(rule, n) {
    if (rule.shares) return 1 / Math.sqrt(1 + rule.k * n);
    return rule.k / Math.max(rule.form === "root" ? n + 1 : n, rule.k);
  }

  function rawTotals(model, lines, start, n) {
    const rule = model.attenuation;
    const sums = (rule ? start.prior.map(() => 0) : start.prior).map((from, k) =>
      lines.reduce((total, part) => total + part.weights[k], from),
    );
    if (!rule) return sums;
    const e = exponent(rule, n);
    return sums.map((weights, k) => {
      const prior = start.prior[k];
      return (rule.form === "root" ? (prior + weights) * e : prior + weights * e) + start.shift[k];
    });
  }

  // Recalibrates a total by the first piece of the curve that contains it.
  function recalibrate({ pieces, steps }, total) {
    const piece = pieces.find(([upper]) => upper === null || total <= upper);
    const [, start, a, b, c, e] = piece;
    const d = total - start;
    const y = a + d * (b + d * (c + d * e));
    return steps ? logit(Math.min(Math.max(y, 1e-10), 1 - 1e-10)) : y;
  }

  function probabilities(totals, link) {
    if (totals.length === 1) return [expit(-totals[0]), expit(totals[0])];
    const logs = link === "ovr" ? totals.map(logExpit) : totals;
    const top = Math.max(...logs);
    const parts = logs.map((x) => Math.exp(x - top));
    const norm = sum(parts);
    return parts.map((x) => x / norm);
  }

  const logExpit = (x) => (x >= 0 ? -Math.log1p(Math.exp(-x)) : x - Math.log1p(Math.exp(x)));

  // ---------------------------------------------------------------- the interval

  function logOdds(totals, a, b, link) {
    if (totals.length === 1) return a === 1 ? totals[0] : -totals[0];
    if (b >= 0) return totals[a] - totals[b];
    const logs = link === "ovr" ? totals.map(logExpit) : totals;
    const rest = logs.filter((_, k) => k !== a);
    const top = Math.max(...rest);
    return logs[a] - top - Math.log(sum(rest.map((x) => Math.exp(x - top))));
  }

  // The derivative of the log odds with respect to ln P(x|c) of each class.
  function slopesOf(totals, n, a, b) {
    if (b >= 0) return Array.from({ length: n }, (_, c) => (c === a || c === b ? 1 : 0));
    const top = Math.max(...totals.filter((_, k) => k !== a));
    const parts = totals.map((x, k) => (k === a ? 0 : Math.exp(x - top)));
    const norm = sum(parts);
    return parts.map((x, k) => (k === a ? 1 : x / norm));
  }

  function errorOf(model, lines, start, totals, n, a, b) {
    if (model.covariance) {
      const error = jointError(model.covariance, lines);
      return error && model.attenuation ? error * exponent(model.attenuation, n) : error;
    }
    if (model.link === "ovr" || !start.variances) return null;
    const parts = model.tokens ? [tokenVariance(model, lines)] : lines.map((l) => l.variances);
    if (parts.some((part) => !part)) return null;
    const rule = model.attenuation;
    const e = rule ? exponent(rule, n) : 1;
    const own = rule && rule.form === "root" ? e : 1;
    const slopes = slopesOf(totals, model.classes.length, a, b);
    let variance = 0;
    for (let c = 0; c < slopes.length; c++) {
      if (!slopes[c]) continue;
      const of = (part) => (part[c] === null ? NaN : part[c]);
      const added = parts.reduce(
        (all, part) => all + e * e * of(part),
        own * own * of(start.variances),
      );
      variance += slopes[c] ** 2 * added;
    }
    return Number.isNaN(variance) ? null : Math.sqrt(variance);
  }

  // Tokens share one distribution, so their variances do not simply add.
  function tokenVariance(model, lines) {
    const common = model.tables[0].common;
    if (!common) return null;
    const times = sum(lines.map((l) => l.times));
    return common.map((shared, c) => {
      const parts = lines.map((l) => l.times ** 2 * ((l.own[c] ?? NaN) + (shared ?? NaN)));
      const variance = lines.length ? sum(parts) - times ** 2 * (shared ?? NaN) : 0;
      return variance < 0 ? 0 : variance;
    });
  }

  // Standard error from the covariance of prior and weights, stored as its lower triangle.
  function jointError(packed, lines) {
    return lines.some((l) => !l.known) ? null : Math.sqrt(varianceOf(packed, lines));
  }

  // Levels not seen in training are left out.
  function varianceOf(packed, lines) {
    const at = [0, ...lines.map((l) => l.at).filter((place) => place >= 0)];
    const { numbers, errors } = packed;
    const entry = (i, j) => {
      const number = numbers[(i * (i + 1)) / 2 + j];
      return errors ? (i === j ? 1 : number * packed.unit) * errors[i] * errors[j] : number;
    };
    let variance = 0;
    for (const i of at) for (const j of at) variance += i >= j ? entry(i, j) : entry(j, i);
    return Math.max(variance, 0);
  }

  // ---------------------------------------------------------------- the sheet

  // What the attenuation depends on: tokens, features that have an answer, or the share of the
  // evidence that is not known.
  function observed(model, lines) {
    const shares = model.attenuation && model.attenuation.shares;
    if (shares) return sum(lines.map((l, j) => (l.level < 0 ? shares[j] : 0)));
    return model.tokens
      ? sum(lines.map((l) => l.times))
      : lines.filter((l) => l.answered).length;
  }

  // One case explained. of and against are indices of classes; null means the default of Python.
  function sheet(model, answers, { of = null, against = null, rate = null } = {}) {
    const lines = model.tokens
      ? tokenLines(model, answers)
      : model.tables.map((table) => line(model, table, answers));
    const n = observed(model, lines);
    const start = change(model, rate);
    const raw = rawTotals(model, lines, start, n);
    const { curve } = model;
    const totals = curve ? [recalibrate(curve, raw[0]) + start.after] : raw;
    const p = probabilities(totals, model.link);
    const two = model.classes.length === 2;
    const a = of ?? (two ? model.of : totals.indexOf(Math.max(...totals)));
    const b = two ? 1 - a : (against ?? -1);
    const sign = two ? [a === 1 ? 1 : -1] : totals.map((_, k) => (k === a ? 1 : k === b ? -1 : 0));
    const items = lines.map((l) => ({ ...l, weight: dot(sign, l.weights) + 0 }));
    const prior = dot(sign, start.prior);
    const odds = logOdds(totals, a, b, model.link);
    const error = errorOf(model, lines, start, totals, n, a, b);
    const mapped = (x) => (curve ? sign[0] * (recalibrate(curve, sign[0] * x) + start.after) : x);
    const middle = curve ? sign[0] * raw[0] : odds;
    return {
      of: a,
      against: b,
      prior,
      items,
      before: prior + sum(items.map((item) => item.weight)),
      total: dot(sign, totals),
      totals,
      probabilities: p,
      probability: b >= 0 && !two ? expit(odds) : p[a],
      interval:
        error === null
          ? null
          : [-error, error].map((e) => expit(mapped(middle + model.reach * e))),
      attenuation: model.attenuation && {
        n,
        exponent: exponent(model.attenuation, n),
        shift: dot(sign, start.shift),
      },
      recalibration: curve && {
        before: sign[0] * raw[0],
        after: sign[0] * recalibrate(curve, raw[0]),
        shift: sign[0] * start.after,
      },
    };
  }

  return { MISSING, open, place, isFar, isOutside, tell, line, sheet, variance: varianceOf, expit, logit };
})();
