/** A text because it runs in browsers only. Foreign text becomes text nodes only. */
export const SITE_SCRIPT = `
const problemIn = (form) => form.querySelector(':scope > .problem');
// A problem that names a field is shown there.
const showProblems = (form, message) => {
  const fields = new Map([...form.querySelectorAll('[data-path]:not([type=hidden])')].map((field) =>
    [JSON.parse(field.dataset.path).join('.'), field]));
  const others = message.split('\\n').filter((line) => {
    let [, path = ''] = /^([^\\s:]+): /.exec(line) ?? [];
    while (path !== '' && !fields.has(path)) path = path.slice(0, Math.max(0, path.lastIndexOf('.'), path.lastIndexOf('[')));
    const field = fields.get(path);
    if (field === undefined) return true;
    const shown = make('p', { className: 'problem', textContent: line });
    shown.setAttribute('role', 'alert');
    field.closest('.field').append(shown);
    field.setAttribute('aria-invalid', 'true');
    for (let at = field.closest('details'); at !== null; at = at.parentElement.closest('details')) at.open = true;
    return false;
  });
  problemIn(form).textContent = others.join('\\n');
  form.querySelector('[aria-invalid]')?.focus();
};
const clearProblems = (form) => {
  problemIn(form).textContent = '';
  for (const shown of form.querySelectorAll('.field > .problem')) shown.remove();
  for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
};
const send = async (address, body) => {
  const answer = await fetch(address, {
    method: 'POST', credentials: 'same-origin',
    headers: { 'content-type': 'application/json', accept: 'application/json' }, body: JSON.stringify(body),
  });
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(content.message ?? 'the server answered ' + answer.status);
  return content;
};
const base64Of = (file) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.addEventListener('load', () => resolve(reader.result.slice(reader.result.indexOf(',') + 1)));
  reader.addEventListener('error', () => reject(reader.error));
  reader.readAsDataURL(file);
});
const readers = {
  text: (text) => text,
  number: Number,
  boolean: (text) => text === 'true',
  lines: (text) => text.split('\\n').map((line) => line.trim()).filter(Boolean),
  json: (text) => JSON.parse(text),
};
const filledIn = (form) => {
  const content = {};
  for (const field of form.querySelectorAll('[data-path]')) {
    if (field.value === '') continue;
    const path = JSON.parse(field.dataset.path);
    let value;
    try { value = readers[field.dataset.kind](field.value); }
    catch { throw new Error(path.join('.') + ': expected JSON'); }
    let at = content;
    for (const name of path.slice(0, -1)) at = Object.hasOwn(at, name) ? at[name] : (at[name] = Object.create(null));
    at[path.at(-1)] = value;
  }
  return content;
};
const filesOf = async (form) => {
  const files = [...(form.querySelector('[data-files]')?.files ?? [])];
  return Promise.all(files.map(async (file) => ({ path: file.name, base64: await base64Of(file) })));
};
const whileBusy = async (form, work) => {
  const button = form.querySelector('button:not([type=button])');
  clearProblems(form);
  button.disabled = true;
  try { await work(); }
  catch (error) { showProblems(form, error.message); }
  finally { button.disabled = false; }
};
for (const form of document.querySelectorAll('form[data-api]')) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(form, async () => {
      const isEvaluation = form.dataset.body === 'evaluation';
      const body = isEvaluation ? { manifest: filledIn(form), files: await filesOf(form) } : {};
      const { id } = await send(form.dataset.api, body);
      location.assign(isEvaluation ? form.dataset.then + id : form.dataset.then);
    });
  });
}
for (const form of document.querySelectorAll('form[data-predict]')) {
  const answers = document.querySelector('[data-answers]');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(form, async () => {
      const [file] = form.querySelector('[type=file]').files;
      const picture = await base64Of(file);
      const model = form.querySelector('[data-model]').value;
      const agents = [...form.querySelectorAll('[data-agent]')].filter(({ value }) => value !== '');
      for (const image of answers.querySelectorAll('img')) URL.revokeObjectURL(image.src);
      answers.replaceChildren();
      const shown = make('figure', {});
      shown.append(make('img', { src: URL.createObjectURL(file), alt: 'the picture' }));
      answers.append(shown);
      await Promise.all(agents.map(async ({ value: agent, selectedOptions: [option] }) => {
        const place = make('section', {});
        place.append(make('h2', { textContent: option.textContent }), make('p', { textContent: 'predicting …' }));
        answers.append(place);
        try {
          const { rows, warning, milliseconds } = await send(form.dataset.predict, { model, agent, picture });
          const table = make('table', {});
          const add = (section, name, cells) => {
            const row = section.insertRow();
            for (const text of cells) row.append(make(name, { textContent: text }));
          };
          add(table.createTHead(), 'th', ['result', 'score', 'details']);
          const body = table.createTBody();
          for (const { result, score, details } of rows) add(body, 'td', [result, score, details]);
          if (warning !== null) place.lastChild.before(make('p', { className: 'problem', textContent: 'warning: ' + warning }));
          place.replaceChild(table, place.lastChild);
          if (milliseconds !== null) place.append(make('p', { className: 'quiet', textContent: milliseconds.toPrecision(4) + ' ms for the inference, once' }));
        } catch (error) {
          place.lastChild.className = 'problem';
          place.lastChild.textContent = error.message;
        }
      }));
    });
  });
}
for (const place of document.querySelectorAll('[data-follow]')) {
  let source;
  let last = place.dataset.after;
  const list = place.querySelector('[data-events]');
  const isAtEnd = () => list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  const show = ({ data, lastEventId }) => {
    last = lastEventId || last;
    const { text, progress, at, state, final } = JSON.parse(data);
    if (progress !== undefined) {
      place.querySelector('[data-progress]').textContent = progress.text;
      place.querySelector('progress').value = progress.share;
    }
    if (state !== undefined) place.querySelector('[role=status]').firstElementChild.textContent = state;
    if (text !== undefined) {
      const stay = isAtEnd();
      list.append(make('li', { textContent: at.slice(11, 19) + ' UTC ' + text }));
      while (list.childElementCount > 1000) list.firstElementChild.remove();
      if (stay) list.scrollTop = list.scrollHeight;
    }
    if (final) { source.close(); location.reload(); }
  };
  // A browser connects again by itself, but for a server that answers with an error, such as a proxy in front of it.
  const open = () => {
    source = new EventSource(place.dataset.follow + '?after=' + last);
    source.addEventListener('evaluation', show);
    source.addEventListener('error', () => { if (source.readyState === EventSource.CLOSED) setTimeout(open, 10000); });
  };
  open();
  addEventListener('pagehide', () => source.close());
}
`;
