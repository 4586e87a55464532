// The formula of a number in MathML.
'use strict';

(() => {
  const explorer = globalThis.explorer;
  const i = (name) => `<mi>${name}</mi>`, o = (sign) => `<mo>${sign}</mo>`, n = (number) => `<mn>${number}</mn>`;
  const sub = (a, b) => `<msub>${a}<mrow>${b}</mrow></msub>`, sup = (a, b) => `<msup>${a}<mrow>${b}</mrow></msup>`;
  const over = (a, b) => `<mfrac><mrow>${a}</mrow><mrow>${b}</mrow></mfrac>`, root = (a) => `<msqrt>${a}</msqrt>`;
  const sum = (of) => `<munder><mo>∑</mo><mrow>${of}</mrow></munder>`;
  const W = (name) => sub('<mi>W</mi>', `<mtext>${name}</mtext>`);
  const turned = (name) => sub(`<mover>${i(name)}<mo>˜</mo></mover>`, i('c'));
  const angle = i('p') + o('⁢') + sub(i('ω'), i('c'));
  const function_of = (name, of) => `${i(name)}${o('⁡')}<mrow><mo>(</mo>${of}<mo>)</mo></mrow>`;
  const matrix = (out, name, of) => i(out) + o('=') + W(name) + o('⁢') + i(of) + o('+') + sub('<mi>b</mi>', `<mtext>${name}</mtext>`);
  const wavelength = over(i('p'), sup(n('10000'), over(n('2') + i('i'), i('d'))));

  const whole = (bias) => '<mtext>weights</mtext>' + o('=') + '<mtext>softmax</mtext><mrow><mo>(</mo>' + over(i('Q') + o('⁢') + sup(i('K'), i('T')), root(i('d'))) + bias + '<mo>)</mo></mrow>';

  const kLines = {
    embeddings: i('e') + o('=') + '<mtext>row of the word in the table</mtext>',
    positions_sin: sub(i('P'), n('2') + i('i')) + o('=') + function_of('sin', wavelength),
    positions_cos: sub(i('P'), n('2') + i('i') + o('+') + n('1')) + o('=') + function_of('cos', wavelength),
    positions: i('P') + o('=') + n('0'),
    inputs: i('x') + o('=') + i('e') + o('+') + i('P'),
    q: matrix('q', 'q', 'x'), k: matrix('k', 'k', 'x'), v: matrix('v', 'v', 'x'),
    rotated_first: turned('q') + o('=') + sub(i('q'), i('c')) + o('⁢') + function_of('cos', angle) + o('−') +
      sub(i('q'), i('c') + o('+') + i('d') + o('/') + n('2')) + o('⁢') + function_of('sin', angle),
    rotated_second: sub(`<mover>${i('q')}<mo>˜</mo></mover>`, i('c') + o('+') + i('d') + o('/') + n('2')) + o('=') + sub(i('q'), i('c') + o('+') + i('d') + o('/') + n('2')) +
      o('⁢') + function_of('cos', angle) + o('+') + sub(i('q'), i('c')) + o('⁢') + function_of('sin', angle),
    scores: i('s') + o('=') + over(i('q') + o('·') + i('k'), root(i('d'))),
    biased: i('s') + o('+') + i('b'),
    weights: sub(i('w'), i('j')) + o('=') + over(sup(i('e'), sub(i('s'), i('j'))), sum(i('m')) + sup(i('e'), sub(i('s'), i('m')))),
    mixed: i('h') + o('=') + sum(i('j')) + sub(i('w'), i('j')) + o('⁢') + sub(i('v'), i('j')),
    output: i('y') + o('=') + W('out') + o('⁢') + '<mrow><mo>(</mo>' + sub(i('h'), n('0')) + '<mo>,</mo>' + sub(i('h'), n('1')) + '<mo>)</mo></mrow>' + o('+') + sub(i('b'), '<mtext>out</mtext>'),
    whole: whole(''), whole_biased: whole(o('+') + i('B')),
  };

  // Returns a formula by its name, null if there is none; `of_key` writes k in place of q.
  explorer.formula = (name, of_key = false) => {
    if (!kLines[name]) return null;
    const template = document.createElement('template');
    template.innerHTML = `<math display="block" data-formula="${name}"><mrow>${of_key ? kLines[name].replaceAll(i('q'), i('k')) : kLines[name]}</mrow></math>`;
    return template.content.firstChild;
  };
})();
