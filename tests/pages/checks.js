// What must hold of a page or a picture in the browser: a list of complaints. In a page, all that is folded is opened first.
(() => {
  const complaints = [];
  const say = (what, element) => complaints.push(`${what}: ${(element.textContent || element.outerHTML).trim().replace(/\s+/g, " ").slice(0, 60)}`);
  for (const details of document.querySelectorAll("details")) details.open = true;
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) {
    const scrolled = (e) => e && (getComputedStyle(e).overflowX !== "visible" || scrolled(e.parentElement));
    const right = (e) => e.getBoundingClientRect().right;
    const widest = [...document.body.querySelectorAll("*")].reduce(
        (a, b) => (right(b) > right(a) && !b.closest("svg *") && !scrolled(b.parentElement) ? b : a), document.body);
    say(`the page is ${root.scrollWidth} wide in a window of ${innerWidth}, by <${widest.tagName} class="${widest.getAttribute("class")}">`, widest);
  }

  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const small = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("script, style, title, desc, metadata")) continue;
    const box = element.getBoundingClientRect();
    if (!element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || box.width <= 1 || box.height <= 1) continue;
    let size = parseFloat(getComputedStyle(element).fontSize);
    const picture = element.closest("svg");
    if (picture && element.getScreenCTM) {
      const m = element.getScreenCTM();
      size *= Math.sqrt(Math.abs(m.a * m.d - m.b * m.c));
      const frame = picture.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) {
        say("a word is cut at the edge of its picture", element);
      }
    }
    if (size < 9.95) small.push([size, element]);
  }
  if (small.length > 0) {
    const [size, smallest] = small.reduce((a, b) => (b[0] < a[0] ? b : a));
    const place = [...document.querySelectorAll("h1, h2, h3")].filter((h) => h.compareDocumentPosition(smallest) & 4).pop();
    say(`${small.length} texts are smaller than 10 px; the smallest, ${size.toFixed(1)} px${place ? `, under "${place.textContent.trim()}"` : ""}`, smallest);
  }

  let before = 0;
  const headings = document.querySelectorAll("h1, h2, h3, h4, h5, h6");
  for (const heading of headings) {
    const level = Number(heading.tagName[1]);
    if (level > before + 1) say(`a heading of level ${level} follows one of level ${before}`, heading);
    before = level;
  }
  if (document.querySelectorAll("h1").length !== (headings.length > 0 ? 1 : 0)) complaints.push("a page has one heading of level 1");

  for (const table of document.querySelectorAll("table")) {
    if (!table.querySelector("th")) say("a table has no header cell", table);
  }
  const native = "a[href], button, input, select, textarea, summary, [role], iframe";
  for (const element of document.querySelectorAll("[tabindex], [onclick]")) {
    const scrolls = element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight;
    if (element.tabIndex >= 0 && !element.matches(native) && !scrolls) say("it takes the focus and has no role", element);
  }
  return complaints;
})()
