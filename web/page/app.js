// The page: a tab per view, what is shown in the address, one message for what goes wrong.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make, state} = explorer;
  const names = Object.keys(explorer.views);

  // Links that name no view and something to show are of the time when the first view was another.
  const first = () => state.names().some((name) => /^(text|order|scheme|toy\d?|p\..*)$/.test(name)) && !state.has('lesson') && !state.has('answers') ? 'order' : names[0];
  const wanted = () => names.includes(state.get('view')) ? state.get('view') : first();

  async function show() {
    const name = wanted();
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
      if (wanted() === name) place.replaceChildren(fresh);
      document.documentElement.dataset.view = name;
    } catch (problem) {
      explorer.say('This view cannot be shown: ' + problem.message);
    }
  }

  // Another view keeps the text and the scheme and forgets the rest.
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

  // A folder or a file that is dropped where nothing takes it must not replace the page.
  for (const kind of ['dragover', 'drop']) addEventListener(kind, (event) => event.preventDefault());
  addEventListener('unhandledrejection', (event) => explorer.say('Something went wrong: ' + (event.reason?.message ?? event.reason)));
  state.on_change(show);
  show();
})();
