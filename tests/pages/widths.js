// What scrolls sideways in this window, with all that is folded opened, and pictures whose text is smaller than `least` pixels: a list of complaints.
((least) => {
  const complaints = [];
  for (const details of document.querySelectorAll("details")) details.open = true;
  const name = (e) => (e.querySelector("svg > title, caption, th:not(:empty)") || e).textContent.trim().replace(/\s+/g, " ").slice(0, 60);
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) complaints.push(`the page is ${root.scrollWidth} wide in a window of ${innerWidth}`);
  for (const element of document.body.querySelectorAll("*:not(svg *)")) {
    if (element.scrollWidth <= element.clientWidth + 1 || element.closest(".words") || !element.checkVisibility()) continue;
    if (["auto", "scroll"].includes(getComputedStyle(element).overflowX)) {
      complaints.push(`${element.scrollWidth} wide in a box of ${element.clientWidth}: ${name(element)}`);
    }
  }
  for (const picture of document.querySelectorAll("svg")) {
    const sizes = [...picture.querySelectorAll("text")].filter((text) => text.checkVisibility() && text.textContent.trim()).map((text) => {
      const m = text.getScreenCTM();
      return parseFloat(getComputedStyle(text).fontSize) * Math.sqrt(Math.abs(m.a * m.d - m.b * m.c));
    });
    if (Math.min(...sizes) < least) complaints.push(`text of ${Math.min(...sizes).toFixed(1)} px: ${name(picture.parentElement)}`);
  }
  return complaints;
})
