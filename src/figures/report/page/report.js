// The report's script adds an interactive map. The page can be read without it.
// The address holds the state: #positions=rotary&head=2&mask=causal&show=weights&word=3.
"use strict";
(() => {
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const read = id => {
    const element = document.getElementById(id);
    return element && JSON.parse(element.textContent);
  };

  // Two characters of base64 hold a number in [0, 1].
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unpack = text => {
    const numbers = new Float64Array(text.length / 2);
    for (let i = 0; i < numbers.length; ++i) {
      numbers[i] = (digits.indexOf(text[2 * i]) * 64 + digits.indexOf(text[2 * i + 1])) / 4095;
    }
    return numbers;
  };

  // A scale has 33 colours. The text on a colour is black or white, whichever has more contrast.
  const scale = text => t => {
    const at = 6 * Math.round(32 * Math.min(1, Math.max(0, t)));
    return "#" + text.slice(at, at + 6);
  };
  const ink = color => {
    const part = at => {
      const c = parseInt(color.slice(at, at + 2), 16) / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) > 0.179 ? "#000" : "#fff";
  };
  const tint = (element, color) => {
    element.style.background = color;
    element.style.color = ink(color);
  };
  const quoted = word => "\u2018" + word + "\u2019";
  const largest = (row, count) => [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, count);

  // Radio buttons, drawn as chips: one of several values is chosen.
  const chips = (name, legend, values, names, chosen, change) => {
    const set = make("fieldset", {}, make("legend", {}, legend));
    values.forEach((value, i) => {
      const input = make("input", {type: "radio", name, value});
      input.checked = value === chosen;
      input.addEventListener("change", () => change(value));
      set.append(make("label", {}, input, make("span", {}, names[i])));
    });
    return set;
  };

  // Words as buttons; the arrow keys go from one to the next.
  const wordButtons = (words, pick) => {
    const buttons = words.map((word, i) => {
      const button = make("button", {type: "button", "aria-pressed": "false"}, word);
      button.addEventListener("click", () => pick(i));
      button.addEventListener("pointerenter", event => event.pointerType === "mouse" && pick(i));
      button.addEventListener("focus", () => pick(i));
      return button;
    });
    buttons.forEach((button, i) => button.addEventListener("keydown", event => {
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (!step) return;
      event.preventDefault();
      buttons[(i + step + buttons.length) % buttons.length].focus();
    }));
    return buttons;
  };
  const press = (buttons, chosen) => buttons.forEach((button, i) => {
    button.setAttribute("aria-pressed", String(i === chosen));
    button.tabIndex = i === chosen ? 0 : -1;
  });

  const explore = (place, data) => {
    const n = data.words.length;
    const weights = {none: data.none.map(unpack), causal: data.causal.map(unpack)};
    const color = {weights: scale(data.colors.weights), difference: scale(data.colors.difference)};
    const heads = ["mean", ...Array(data.heads).keys()].map(String);
    const choices = {positions: data.schemes, head: heads, mask: ["none", "causal"],
      show: ["weights", "difference"]};
    const state = {positions: "sinusoidal", head: "0", mask: "none", show: "weights", word: n - 1};

    const row = (scheme, query) => {
      const all = weights[state.mask][data.schemes.indexOf(scheme)];
      const sum = new Float64Array(n);
      const chosen = state.head === "mean" ? [...Array(data.heads).keys()] : [Number(state.head)];
      for (const head of chosen) {
        for (let key = 0; key < n; ++key) {
          sum[key] += all[(head * n + query) * n + key] / chosen.length;
        }
      }
      return sum;
    };
    const hidden = (query, key) => state.mask === "causal" && key > query;

    // The address.
    const load = () => {
      const given = new URLSearchParams(location.hash.slice(1));
      for (const [name, values] of Object.entries(choices)) {
        if (values.includes(given.get(name))) state[name] = given.get(name);
      }
      const word = Number(given.get("word") ?? NaN);
      if (Number.isInteger(word) && word >= 0 && word < n) state.word = word;
    };
    const save = () => history.replaceState(null, "", "#" + new URLSearchParams(state));

    const pick = word => {
      if (word === state.word) return;
      state.word = word;
      save();
      drawWord();
    };
    const buttons = wordButtons(data.words, pick);
    const arcs = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    arcs.setAttribute("aria-hidden", "true");
    const line = make("div", {class: "words", role: "group", "aria-label": "Words of the text"},
      arcs);
    buttons.forEach(button => line.append(button, " "));
    const says = make("p", {class: "says", "aria-live": "polite"});
    const body = make("tbody");
    const head = make("tr", {}, make("td", {"aria-label": "query, key"}),
      ...data.words.map(word => make("th", {scope: "col"}, word)));
    const map = make("table", {class: n > 24 ? "map small" : "map"},
      make("caption", {hidden: ""}, "Attention weights"), make("thead", {}, head), body);
    const cells = [];
    data.words.forEach((word, query) => {
      const line = make("tr", {}, make("th", {scope: "row"}, word));
      cells.push(data.words.map((_, key) => {
        const cell = make("td");
        cell.addEventListener("pointerenter", () => pick(query));
        cell.addEventListener("click", () => pick(query));
        line.append(cell);
        return cell;
      }));
      body.append(line);
    });

    const drawMap = () => {
      for (let query = 0; query < n; ++query) {
        const base = row("none", query), now = row(state.positions, query);
        for (let key = 0; key < n; ++key) {
          const cell = cells[query][key];
          const is = hidden(query, key);
          cell.className = is ? "hidden" : "";
          const difference = now[key] - base[key];
          const value = state.show === "weights" ? now[key] : difference;
          cell.style.background = is ? "" : state.show === "weights" ? color.weights(value)
            : color.difference(0.5 + value);
          cell.title = quoted(data.words[query]) + " \u2192 " + quoted(data.words[key]) + ": " +
            (is ? "hidden" : value.toFixed(3));
        }
      }
    };
    const drawArcs = now => {
      arcs.replaceChildren();
      const box = line.getBoundingClientRect();
      const middle = i => {
        const at = buttons[i].getBoundingClientRect();
        return [at.left + at.width / 2 - box.left, at.top - box.top];
      };
      const [x, y] = middle(state.word);
      now.forEach((weight, key) => {
        if (weight < 0.02 || key === state.word) return;
        const [toX, toY] = middle(key);
        const up = Math.min(y, toY) - Math.min(36, 12 + Math.abs(toX - x) / 8);
        const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
        path.setAttribute("d", `M${x} ${y}C${x} ${up} ${toX} ${up} ${toX} ${toY}`);
        path.setAttribute("fill", "none");
        path.setAttribute("stroke", "#c96a1b");
        path.setAttribute("stroke-width", 1 + 6 * weight);
        path.setAttribute("opacity", Math.min(1, 0.15 + 1.5 * weight));
        arcs.append(path);
      });
    };
    const drawWord = () => {
      const query = state.word, now = row(state.positions, query);
      press(buttons, query);
      buttons.forEach((button, key) => {
        if (hidden(query, key)) tint(button, "#c8c8c8");
        else tint(button, color.weights(now[key]));
      });
      [...body.rows].forEach((line, i) => line.classList.toggle("at", i === query));
      const most = largest(now, 4).filter(key => now[key] >= 0.005)
        .map(key => quoted(data.words[key]) + " " + now[key].toFixed(3));
      const name = data.names[data.schemes.indexOf(state.positions)];
      says.textContent = quoted(data.words[query]) + " (word " + query + ") attends most to " +
        most.join(", ") + ". " + name[0].toUpperCase() + name.slice(1) + ", " +
        (state.head === "mean" ? "mean of the heads" : "head " + state.head) +
        (state.mask === "causal" ? ", causal mask." : ".");
      drawArcs(now);
    };
    const draw = () => {
      drawMap();
      drawWord();
    };
    const build = () => {
      const change = name => value => {
        state[name] = value;
        save();
        draw();
      };
      const controls = make("div", {},
        chips("positions", "Positions", data.schemes, data.names, state.positions,
          change("positions")),
        chips("head", "Head", heads, heads, state.head, change("head")),
        chips("mask", "Mask", choices.mask, choices.mask, state.mask, change("mask")),
        chips("show", "Show", choices.show, ["weights", "difference from no positions"], state.show,
          change("show")));
      place.replaceChildren(make("h3", {}, "Look at any word"), controls, line, says,
        make("div", {class: "wide", tabindex: "0", role: "region",
          "aria-label": "Map of all weights, scrollable"}, map));
      place.hidden = false;
      draw();
    };
    load();
    build();
    addEventListener("hashchange", () => { load(); build(); });
    addEventListener("resize", () => drawArcs(row(state.positions, state.word)));
  };

  // A translation: shows which characters of the source each written character attended to.
  const translated = (place, data) => {
    const weights = unpack(data.weights), n = data.source.length;
    const color = scale(data.colors);
    const source = [...place.querySelectorAll(".source u")];
    const says = place.querySelector(".says"), line = place.querySelector(".target");
    says.setAttribute("aria-live", "polite");
    let chosen = -1;
    const pick = at => {
      if (at === chosen) return;
      chosen = at;
      press(buttons, at);
      const row = weights.subarray(at * n, (at + 1) * n);
      source.forEach((element, i) => tint(element, color(row[i])));
      const most = largest(row, 3).map(i => quoted(data.source[i]) + " (character " + (i + 1) +
        ") " + row[i].toFixed(2));
      says.textContent = "To write " + quoted(data.target[at]) + ", it attended most to " +
        most.join(", ") + ".";
    };
    const buttons = wordButtons(data.target, pick);
    line.setAttribute("role", "group");
    line.setAttribute("aria-label", "What it wrote");
    const at = [...line.children].findIndex(element => element.className === "chosen");
    line.replaceChildren(...buttons);
    buttons.forEach((button, i) => button.tabIndex = i === at ? 0 : -1);
  };

  const start = (id, show) => {
    const place = document.getElementById(id), data = read(id + "-data");
    if (place && data) show(place, data);
  };
  start("explore", explore);
  start("translated", translated);
  addEventListener("beforeprint", () => document.querySelectorAll("details")
    .forEach(element => element.open = true));
})();
