import type { ApiDocument, Operation, Parameter } from './api-document.ts'
import { type Html, html, when } from './html.ts'
import { markdown } from './markdown.ts'

/** Documentation of an API: its operations, by tag. */
export function apiDocumentation({ description, servers, operations, version }: ApiDocument): Html {
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  return html`<div class="api">
${when(description !== '', () => markdown(description, 2))}
<dl class="facts"><dt>Version</dt><dd>${version || '–'}</dd>${servers.map((url) => html`<dt>Address</dt><dd><code>${url}</code></dd>`)}</dl>
${tags.map((tag) =>
  group(
    tag,
    operations.filter((operation) => operation.tag === tag),
    servers[0] ?? '',
  ),
)}
</div>`
}

function group(tag: string, operations: readonly Operation[], server: string): Html {
  return html`${when(tag !== '', () => html`<h3>${tag}</h3>`)}
${operations.map((operation) => operationPanel(operation, server))}`
}

function operationPanel(operation: Operation, server: string): Html {
  const { id, tag, method, path, summary, description, deprecated } = operation
  const { parameters, body, answers, example } = operation
  return html`<details class="operation" id="${id}">
<summary><span class="method ${method.toLowerCase()}">${method}</span> <code class="path">${path}</code>
<span class="what">${summary}${deprecated ? ' (deprecated)' : ''}</span></summary>
<div class="inside">
${when(description !== '', () => markdown(description, tag === '' ? 2 : 3))}
${when(parameters.length > 0, () => parameterTable('Parameters', parameters))}
${when(body.length > 0, () => parameterTable('Body', body))}
${when(answers.length > 0, () => answerTable(operation))}
${when(example !== '', () => html`<p class="caption">Answers for example</p><pre tabindex="0"><code>${example}</code></pre>`)}
${when(server !== '', () => html`<p class="caption">Try it</p><pre tabindex="0"><code>${command(method, server + path)}</code></pre>`)}
</div></details>`
}

function parameterTable(title: string, parameters: readonly Parameter[]): Html {
  return html`<div class="scroll" tabindex="0"><table><caption>${title}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">What it is</th></tr></thead>
<tbody>${parameters.map(
    ({
      name,
      place,
      sort,
      needed,
      description,
    }) => html`<tr><th scope="row"><code>${name}</code>${needed ? html` <span class="needed">required</span>` : ''}</th>
<td>${sort}${place === 'body' ? '' : html`<br><span class="hint">in ${place}</span>`}</td><td>${description}</td></tr>`,
  )}</tbody></table></div>`
}

function answerTable({ answers }: Operation): Html {
  return html`<div class="scroll" tabindex="0"><table><caption>Answers</caption>
<thead><tr><th scope="col">Status</th><th scope="col">When</th></tr></thead>
<tbody>${answers.map(({ status, description }) => html`<tr><th scope="row">${status}</th><td>${description}</td></tr>`)}</tbody></table></div>`
}

/** A command to paste. Single quotes in the address would end its own. */
function command(method: string, address: string): string {
  const verb = method === 'GET' ? '' : `-X ${method} `
  return `curl ${verb}'${address.replaceAll("'", '%27')}' -H 'Authorization: YOUR-KEY'`
}
