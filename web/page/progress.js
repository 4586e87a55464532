// Shows the time and progress of a long call, and a button that stops it.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;
  const kPatience = 400;  // milliseconds before anything is shown

  const says = make('span', {role: 'status'});
  const stop = make('button', {type: 'button', onclick: () => explorer.engine.stop()}, 'Stop');
  const line = make('div', {class: 'progress', hidden: true}, says, stop);
  let timer = 0;

  explorer.engine.watch((call) => {
    clearInterval(timer);
    if (call === null) return line.hidden = true;
    const show = () => {
      const passed = performance.now() - call.began;
      if (passed < kPatience) return;
      line.hidden = false;
      says.textContent = `Computing for ${(passed / 1000).toFixed(0)} s${call.said ? ': ' + call.said : ' …'}`;
    };
    timer = setInterval(show, kPatience);
  });
  explorer.show_progress = (place) => place.replaceChildren(line);
})();
