// A function of the paper's size: what of the page does not fit on a sheet of it.
((width, height) => [...document.querySelectorAll("figure, table tr, pre")].flatMap((element) => {
  const box = element.getBoundingClientRect();
  const name = `<${element.tagName.toLowerCase()}> ${element.textContent.trim().slice(0, 40)}`;
  const right = Math.max(box.right, ...[...element.querySelectorAll("svg, img, th, td")].map((e) => e.getBoundingClientRect().right));
  return [...(right > width + 1 ? [`printed, it is wider than the paper: ${name}`] : []),
          ...(box.height > height + 1 ? [`printed, it is higher than the paper: ${name}`] : [])];
}))
