"use strict";
// The page: k3d shows the scene at the number of a frame, whole or between two; everything follows the slider's time.
(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const { make, short, before } = Charts;
  const { times, charts: tables } = content;
  const last = times.length - 1;
  const get = (id) => document.getElementById(id);
  const slider = get("slider"), play = get("play");
  // Charts may go on after the last frame, as rows come more often; the slider stays with the frames.
  const ends = tables.map((table) => table.x[table.x.length - 1]);
  const span = [Math.min(times[0], ...tables.map((table) => table.x[0])), Math.max(times[last], ...ends)];
  let viewer = null, time = times[0], playing = false, shows = false;

  // What the page says.
  document.documentElement.lang = "en";
  get("title").textContent = content.title;
  get("about").textContent = content.about;
  get("state").textContent = content.state.text;
  get("state").classList.toggle("open", !content.state.finished);
  content.facts.forEach(([name, value]) => {
    const item = make("li", {}, get("facts"));
    make("b", {}, item, value);
    make("span", {}, item, ` ${name}`);
  });
  content.notes.forEach((note) => make("li", {}, get("notes"), note));
  get("notes-box").hidden = content.notes.length === 0;
  get("scene").textContent = content.scene;
  function rows(parent, entries) {
    Object.entries(entries).forEach(([name, value]) => {
      if (value !== null && typeof value === "object") {
        rows(parent, Object.fromEntries(Object.entries(value).map(([key, v]) => [`${name}: ${key}`, v])));
      } else {
        make("dt", {}, parent, name);
        make("dd", {}, parent, typeof value === "number" ? short(value) : String(value));
      }
    });
  }
  rows(get("summary"), content.summary);
  if (!Object.keys(content.summary).length) get("summary").textContent = "The run has not ended; there is no summary yet.";
  Object.entries(content.versions).forEach(([name, entries]) => {
    if (!Object.keys(entries).length) return;
    make("h3", {}, get("versions"), name);
    rows(make("dl", {}, get("versions")), entries);
  });
  get("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(content.scene);
      get("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(get("scene"));
      get("copy").textContent = "Selected";
    }
    setTimeout(() => { get("copy").textContent = "Copy"; }, 1500);
  });

  // Time.
  const frameAt = (t) => {
    const k = before(times, t);
    return k < last && t > times[k] ? k + (t - times[k]) / (times[k + 1] - times[k]) : k;
  };
  const drawn = tables.map((table) => new Charts.Chart(get("charts"), table, span, (t) => { stop(); go(t); }));
  slider.min = times[0];
  slider.max = times[last];
  slider.disabled = play.disabled = last === 0;

  function go(to) {
    time = Math.min(Math.max(to, times[0]), times[last]);
    const at = frameAt(time), near = Math.round(at);
    slider.value = time;
    get("clock").replaceChildren(`t = ${time.toPrecision(4)} s `);
    const one = !content.smooth ? Math.floor(at + 1e-6) : Math.abs(at - near) < 1e-6 ? near : -1;
    make("small", {}, get("clock"), one >= 0 ? `frame ${one + 1} of ${last + 1}`
      : `frames ${Math.floor(at) + 1}–${Math.floor(at) + 2} of ${last + 1}`);
    drawn.forEach((chart) => chart.move(time));
    show();
  }

  // One picture after the other: where the scene is slower than the slider, pictures in between are left out.
  let wanted = -1;
  async function show() {
    wanted = frameAt(time);
    if (!viewer || shows) return;
    shows = true;
    for (let done = -1; done !== wanted;) {
      done = wanted;
      await viewer.setTime(done);
    }
    shows = false;
  }

  function stop() {
    playing = false;
    play.classList.remove("on");
    play.setAttribute("aria-label", "Play");
  }

  function start() {
    playing = true;
    play.classList.add("on");
    play.setAttribute("aria-label", "Pause");
    if (time >= times[last]) go(times[0]);
    let then = performance.now();
    const tick = (now) => {
      if (!playing) return;
      go(time + Math.max(now - then, 0) / 1000 / Number(get("pace").value) * (times[last] - times[0]));
      then = now;
      if (time >= times[last]) stop(); else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  const toggle = () => (playing ? stop() : start());
  const step = (by) => {
    stop();
    const at = frameAt(time), next = by > 0 ? Math.floor(at + 1e-6) + 1 : Math.ceil(at - 1e-6) - 1;
    go(times[Math.min(Math.max(next, 0), last)]);
  };
  slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
  play.addEventListener("click", toggle);
  get("back").addEventListener("click", () => step(-1));
  get("next").addEventListener("click", () => step(1));
  document.addEventListener("keydown", (event) => {
    const busy = event.target.closest?.("select, pre, button, .key") || event.ctrlKey || event.metaKey || event.altKey;
    if (busy) return;
    const action = { " ": toggle, ArrowLeft: () => step(-1), ArrowRight: () => step(1),
      Home: () => { stop(); go(times[0]); }, End: () => { stop(); go(times[last]); } }[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  });

  // Colours.
  const colours = content.colours.map(([r, g, b]) => (r << 16) | (g << 8) | b);
  get("bar").style.background = `linear-gradient(90deg, ${content.colours.filter((_, k) => k % 15 === 0)
    .map((rgb) => `rgb(${rgb})`)})`;

  function label(scalar) {
    const unit = scalar.unit ? ` ${scalar.unit}` : "";
    get("low").textContent = short(scalar.low);
    get("middle").textContent = short((scalar.low + scalar.high) / 2);
    get("high").textContent = `${scalar.beyond ? "≥ " : ""}${short(Number(scalar.high.toPrecision(3)))}${unit}`;
  }

  // Objects hold all scalars in their custom data: series of arrays, or, of rigid bodies, a number for each frame.
  async function colour(scalar) {
    label(scalar);
    for (const object of Object.values(viewer.getWorld().ObjectsListJson)) {
      const { scalars, of_frames: numbers } = object.custom_data || {};
      if (scalars && scalars[scalar.name]) {
        object.color_range = [scalar.low, scalar.high];
        object.attribute = scalars[scalar.name];
        if (object.type === "Points") await viewer.reload(object, { color_range: object.color_range }, true);
      } else if (numbers && numbers[scalar.name]) {
        object.color = { timeSeries: true };
        numbers[scalar.name].data.forEach((value, k) => {
          const part = (value - scalar.low) / (scalar.high - scalar.low);
          object.color[k] = colours[Math.round(255 * Math.min(Math.max(part, 0), 1))];
        });
      }
    }
    await viewer.setTime(frameAt(time));
  }

  content.scalars.forEach(({ name, unit }) => make("option", { value: name }, get("scalar"), unit ? `${name} [${unit}]` : name));
  get("scalar").value = content.scalar;
  get("scalar").disabled = content.scalars.length < 2;
  const scalarOf = (name) => content.scalars.find((scalar) => scalar.name === name);
  get("scalar").addEventListener("change", () => colour(scalarOf(get("scalar").value)));
  if (scalarOf(content.scalar)) {
    label(scalarOf(content.scalar));
    get("colours").hidden = false;
  }

  // The viewer, as soon as k3d has made it.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const sky = () => viewer && (viewer.setClearColor(dark.matches ? 0x161b21 : 0xffffff),
    viewer.setLabelColor(dark.matches ? 0xe6ebf0 : 0x444444), viewer.render(true));
  dark.addEventListener("change", sky);
  const ready = new Promise((found, failed) => {
    const look = () => (window.K3DInstance ? window.K3DInstance.then(found, failed) : setTimeout(look, 20));
    look();
  });
  ready.then(async (made) => {
    viewer = made;
    const camera = viewer.parameters.camera && viewer.parameters.camera.length ? [...viewer.parameters.camera] : null;
    // The camera is right for a wide view; it steps back from a narrow one.
    const home = () => {
      const box = get("view").getBoundingClientRect(), back = Math.max(1, 1.6 * box.height / box.width);
      const [x, y, z, a, b, c, ...up] = camera;
      viewer.setCamera([a + back * (x - a), b + back * (y - b), c + back * (z - c), a, b, c, ...up]);
      viewer.render(true);
    };
    await viewer.setTime(frameAt(time));
    sky();
    if (camera) {
      setTimeout(home, 60); // after k3d has set its own
      get("home").addEventListener("click", home);
    }
    get("loading").remove();
    new ResizeObserver(() => viewer.resizeHelper()).observe(get("view"));
    document.body.dataset.ready = "true";
  }).catch((error) => {
    get("loading").textContent = `The scene cannot be shown (${error.message || error}). It needs a browser with WebGL 2.`;
  });
  get("whole").addEventListener("click", () => {
    if (document.fullscreenElement) document.exitFullscreen(); else get("view").requestFullscreen();
  });
  go(times[0]);
})();
