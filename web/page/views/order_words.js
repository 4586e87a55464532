// The words of the second sentence, as chips: click two to swap them, drag one, or use the arrow keys.
'use strict';

(() => {
  const explorer = globalThis.explorer, {make} = explorer;
  const kFar = 6;  // pixels before a press becomes a drag

  // Adds a full stop, so that the last token, whose output is compared, is not a word to move.
  explorer.sentence_of = (text, most) => {
    const words = explorer.words_of(text.toLowerCase(), most);  // a moved word must not keep its capital
    if (words.length > 0 && /[\p{L}\p{N}]$/u.test(words.at(-1))) words.push('.');
    return words;
  };

  // Finds two words that read naturally when swapped: after articles, else two long ones, else any two.
  explorer.first_swap = (words) => {
    const movable = words.slice(0, -1), order = words.map((_, i) => i);
    const rules = [(_, i) => /^(the|a|an)$/.test(words[i - 1]), (word) => word.length > 3, () => true];
    for (const rule of rules) {
      const fit = movable.map((_, i) => i).filter((i) => rule(words[i], i));
      const other = fit.find((i) => words[i] !== words[fit[0]]);
      if (other === undefined) continue;
      [order[fit[0]], order[other]] = [order[other], order[fit[0]]];
      break;
    }
    return order;
  };

  // Draws `words` in `order`, a list of their indices. Calls `moved(order, done)` while a word is dragged,
  // and with done = true when it is dropped.
  explorer.word_chips = (moved) => {
    const chips = make('ol', {class: 'chips', 'aria-label': 'The words of the second sentence, in their order'});
    let words = [], order = [], chosen = null, drag = null, dragged = -1e9;

    function move(from, to, done) {
      if (to < 0 || to >= order.length || from === to) return;
      order.splice(to, 0, ...order.splice(from, 1));
      chosen = null;
      // The element moves with its word, so that it keeps the focus and the pointer.
      const item = chips.children[from], focused = document.activeElement === item.firstChild;
      chips.insertBefore(item, chips.children[to > from ? to + 1 : to]);
      if (focused) item.firstChild.focus();
      label();
      moved(order, done);
    }

    function label() {
      [...chips.children].forEach((item, place) => {
        const chip = item.firstChild, name = `${words[order[place]]}, place ${place + 1} of ${words.length}; arrow keys move it`;
        if (chip.ariaLabel !== name) chip.ariaLabel = name;
        chip.classList.toggle('moved', order[place] !== place);
        const pressed = String(chosen === place);
        if (chip.ariaPressed !== pressed) chip.ariaPressed = pressed;
      });
    }

    const place_of = (chip) => [...chips.children].indexOf(chip.closest('li'));

    chips.addEventListener('pointerdown', (event) => {
      const chip = event.target.closest('button');
      if (chip && event.button === 0) drag = {chip, x: event.clientX, y: event.clientY, begun: false};
    });
    // One pointer move per frame is enough.
    let last = null;
    function follow() {
      const event = last;
      last = null;
      if (drag === null || event === null) return;
      if (!drag.begun && Math.hypot(event.clientX - drag.x, event.clientY - drag.y) < kFar) return;
      if (!drag.begun) {
        drag.begun = true;
        drag.chip.classList.add('dragged');
        drag.chip.setPointerCapture(event.pointerId);
      }
      const below = document.elementsFromPoint(event.clientX, event.clientY).find((one) => one.closest?.('.chips li') && !drag.chip.contains(one));
      if (below) move(place_of(drag.chip), place_of(below), false);
    }
    chips.addEventListener('pointermove', (event) => {
      if (event.buttons === 0) drag = null;  // the button was released outside
      if (drag === null) return;
      if (last === null) requestAnimationFrame(follow);
      last = event;
    });
    function drop() {
      follow();  // the last move, if its frame has not come
      if (drag?.begun) {
        drag.chip.classList.remove('dragged');
        moved(order, true);
        dragged = performance.now();
      }
      drag = null;
    }
    chips.addEventListener('pointerup', drop);
    chips.addEventListener('pointercancel', drop);

    chips.addEventListener('click', (event) => {
      const chip = event.target.closest('button');
      if (!chip || performance.now() - dragged < 50) return;  // a drag ends with a click
      const place = place_of(chip);
      if (chosen === null) {
        chosen = place;
        return label();
      }
      const other = chosen;
      chosen = null;
      if (other === place) return label();
      [order[other], order[place]] = [order[place], order[other]];
      draw(place);
      moved(order, true);
    });
    chips.addEventListener('keydown', (event) => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key], chip = event.target.closest('button');
      if (step === undefined || !chip) return;
      event.preventDefault();
      move(place_of(chip), place_of(chip) + step, true);
    });

    function draw(focus = -1) {
      chips.replaceChildren(...order.map((word) => make('li', {}, make('button', {type: 'button'}, words[word]))));
      label();
      if (focus >= 0) chips.children[focus].firstChild.focus();
    }
    return {
      chips,
      show(new_words, new_order) {
        words = new_words;
        order = [...new_order];
        chosen = null;
        draw();
      },
    };
  };
})();
