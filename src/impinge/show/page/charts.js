"use strict";
// Charts as SVG: lines over time with a cursor that stands where the scene is; a click moves the scene there.
const Charts = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const HEIGHT = 230, TOP = 10, BOTTOM = 34, RIGHT = 12;

  function make(tag, attributes = {}, parent = null, text = "") {
    const element = tag.startsWith("svg:")
      ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    if (text) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  }

  function short(value) {
    if (value === null || !Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (Number.isInteger(value) && size < 1e9) return value.toLocaleString("en-US").replace("-", "−");
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) {
      const [digits, power] = value.toExponential(2).split("e");
      const raised = String(Number(power)).replace("-", "⁻").replace(/\d/g, (d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);
      return `${Number(digits)}·10${raised}`.replace("-", "−");
    }
    return Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 8 }).replace("-", "−");
  }

  // Round numbers between two, so many or a few less.
  function ticks(low, high, most) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((k) => k * power >= rough * (1 - 1e-9));
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return found.map((value) => (Math.abs(value) < step * 1e-6 ? 0 : value));
  }

  // Place of the last number that is not above x; the numbers rise.
  function before(x, value) {
    let low = 0, high = x.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (x[middle] <= value) low = middle; else high = middle - 1;
    }
    return low;
  }

  class Chart {
    constructor(parent, data, span, seek) {
      Object.assign(this, { data, span, seek, time: span[0] });
      const figure = make("figure", { "data-chart": data.title }, parent);
      const caption = make("figcaption", {}, figure);
      make("strong", {}, caption, data.unit ? `${data.title} [${data.unit}]` : data.title);
      const varied = data.lines.filter((line) => line.y.some((y) => y));
      const zero = data.lines.filter((line) => !varied.includes(line)).map((line) => line.name);
      const first = Math.max(data.lines.findIndex((line) => line.y.some((y) => y !== line.y[0])), 0);
      if (data.choose) this.offer(caption, data.lines, first);
      this.lines = (data.choose ? [data.lines[first]] : varied.length ? varied : data.lines)
        .map((line, k) => ({ ...line, colour: `var(--c${k % 7})`, on: true }));
      this.keys = make("span", {}, caption);
      if (zero.length && varied.length && !data.choose) {
        make("span", { class: "zero" }, caption, `always 0: ${zero.join(", ")}`);
      }
      this.svg = make("svg:svg", { role: "img", "aria-label": `${data.title} over time` }, figure);
      this.showKeys();
      this.listen();
      new ResizeObserver(() => this.draw()).observe(this.svg);
    }

    offer(caption, lines, first) {
      const select = make("select", { "aria-label": "Column of series.csv" }, caption);
      lines.forEach((line, k) => make("option", { value: k }, select, line.name));
      select.value = first;
      select.addEventListener("change", () => {
        this.lines = [{ ...lines[select.value], colour: "var(--c0)", on: true }];
        this.showKeys();
        this.draw();
      });
    }

    showKeys() {
      this.keys.replaceChildren();
      this.outputs = this.lines.map((line) => {
        const key = make("button", { type: "button", class: "key", "aria-pressed": "true",
          style: `--own: ${line.colour}` }, this.keys, `${line.name} `);
        key.addEventListener("click", () => {
          line.on = !line.on;
          key.setAttribute("aria-pressed", line.on);
          this.draw();
        });
        return make("output", {}, key);
      });
    }

    listen() {
      const at = (event) => {
        const box = this.svg.getBoundingClientRect();
        const part = (event.clientX - box.left - this.left) / (box.width - this.left - RIGHT);
        return this.span[0] + Math.min(Math.max(part, 0), 1) * (this.span[1] - this.span[0]);
      };
      let drags = false;
      this.svg.addEventListener("pointerdown", (event) => {
        drags = true;
        this.svg.setPointerCapture(event.pointerId);
        this.seek(at(event));
      });
      this.svg.addEventListener("pointermove", (event) => {
        if (drags) this.seek(at(event)); else this.tell(at(event));
      });
      this.svg.addEventListener("pointerup", () => { drags = false; });
      this.svg.addEventListener("pointercancel", () => { drags = false; });
      this.svg.addEventListener("pointerleave", () => this.tell(this.time));
    }

    // Values at a time, in the legend.
    tell(time) {
      const x = this.data.x, k = before(x, time);
      const near = !this.data.stairs && k + 1 < x.length && x[k + 1] - time < time - x[k] ? k + 1 : k;
      const row = this.data.stairs ? Math.min(k + (time > x[k] ? 1 : 0), x.length - 1) : near;
      this.outputs.forEach((output, n) => { output.textContent = short(this.lines[n].y[row]); });
    }

    draw() {
      const width = this.svg.clientWidth;
      if (!width) return;
      this.svg.replaceChildren();
      const shown = this.lines.filter((line) => line.on), known = shown.flatMap((line) => line.y.filter((y) => y !== null));
      let low = known.reduce((a, b) => Math.min(a, b), Infinity), high = known.reduce((a, b) => Math.max(a, b), -Infinity);
      if (!known.length) [low, high] = [0, 1];
      if (low > 0 && low < 0.6 * high) low = 0;
      if (high === low) [low, high] = [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
      const marks = ticks(low, high, 5), texts = marks.map(short);
      this.left = 14 + 6.6 * Math.max(...texts.map((text) => text.length));
      const [start, end] = this.span, wide = width - this.left - RIGHT, tall = HEIGHT - TOP - BOTTOM;
      this.x = (time) => this.left + wide * (end > start ? (time - start) / (end - start) : 0.5);
      const y = (value) => TOP + tall * (1 - (value - low) / (high - low));
      marks.forEach((mark, k) => {
        make("svg:line", { class: "grid", x1: this.left, x2: width - RIGHT, y1: y(mark), y2: y(mark) }, this.svg);
        make("svg:text", { x: this.left - 6, y: y(mark) + 4, "text-anchor": "end" }, this.svg, texts[k]);
      });
      ticks(start, Math.max(end, start + 1e-12), Math.max(Math.floor(wide / 80), 2)).forEach((mark) => {
        make("svg:line", { class: "grid", x1: this.x(mark), x2: this.x(mark), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4 },
          this.svg);
        make("svg:text", { x: this.x(mark), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, this.svg, short(mark));
      });
      make("svg:text", { x: this.left + wide / 2, y: HEIGHT - 4, "text-anchor": "middle" }, this.svg, "time [s]");
      shown.forEach((line) => {
        make("svg:path", { d: this.path(line.y, y), style: `stroke: ${line.colour}` }, this.svg);
      });
      this.cursor = make("svg:line", { class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM }, this.svg);
      this.move(this.time);
    }

    path(values, y) {
      let text = "", pen = false;
      values.forEach((value, k) => {
        if (value === null) {
          pen = false;
        } else {
          const x = this.x(this.data.x[k]).toFixed(1), at = y(value).toFixed(1);
          text += pen ? (this.data.stairs ? `V${at}H${x}` : `L${x} ${at}`) : `M${x} ${at}`;
          pen = true;
        }
      });
      return text;
    }

    move(time) {
      this.time = time;
      if (!this.cursor) return;
      this.cursor.setAttribute("x1", this.x(time));
      this.cursor.setAttribute("x2", this.x(time));
      this.tell(time);
    }
  }

  return { Chart, make, short, before };
})();
