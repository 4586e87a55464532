// The page: it has a tab per view, keeps its state in the address, and shows one message for an error.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const names = Object.keys(explorer.views);

  // A link that names no view but has other fields is an old one, from before the lesson was the first view.
  const first = () => state.names().some((name) => /^(text|order|scheme|toy\d?|p\..*)$/.test(name)) && !state.has('lesson') && !state.has('answers') ? 'order' : names[0];
  const wanted = () => names.includes(state.get('view')) ? state.get('view') : first();

  let asked = 0;
  async function show() {
    const mine = ++asked, name = wanted();
    for (const tab of document.querySelectorAll('[role=tab]')) {
      const on = tab.dataset.view === name;
      tab.setAttribute('aria-selected', String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    explorer.say('');
    document.getElementById('heading').textContent = explorer.views[name].title;
    const place = document.getElementById('view');
    place.setAttribute('aria-labelledby', 'tab-' + name);
    place.replaceChildren(make('p', {class: 'note'}, 'Starting the engine …'));
    const fresh = make('div');
    try {
      await explorer.views[name].show(fresh);
      if (mine !== asked) return;
      place.replaceChildren(fresh);
      document.documentElement.dataset.view = name;
    } catch (problem) {
      if (mine === asked) explorer.say('This view cannot be shown: ' + problem.message);
    }
  }

  // A change of the view keeps the text and the scheme and drops the rest.
  function go(name) {
    const kept = ['text', 'scheme'];
    state.set(Object.fromEntries(state.names().filter((key) => !kept.includes(key)).map((key) => [key, null])));
    state.set({view: name === names[0] && state.names().length === 0 ? null : name});
    show();
  }

  const tabs = make('div', {role: 'tablist', 'aria-label': 'Views'}, ...names.map((name) =>
    make('button', {type: 'button', role: 'tab', id: 'tab-' + name, 'aria-controls': 'view', 'data-view': name,
      onclick: () => go(name),
      onkeydown: (event) => {
        const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
        if (step === undefined) return;
        const next = names[(names.indexOf(name) + step + names.length) % names.length];
        go(next);
        document.getElementById('tab-' + next).focus();
      }}, explorer.views[name].title)));
  document.getElementById('tabs').replaceChildren(tabs);

  explorer.show_progress(document.getElementById('progress'));

  // A file or folder that is dropped outside a place for it must not replace the page.
  for (const kind of ['dragover', 'drop']) addEventListener(kind, (event) => event.preventDefault());
  addEventListener('unhandledrejection', (event) => explorer.say('Something went wrong: ' + (event.reason?.message ?? event.reason)));
  state.on_change(show);
  show();
})();
