/** Sends the requests of a `Group`, which are described in `group.ts`, to an API server. */
import type { JsonObject } from '../../../../src/api/json.ts'
import { isObject } from '../../../../src/api/json.ts'
import type { Answer } from './answer.ts'
import { answerOf, rowOf, unlike } from './answer.ts'
import type { Change, Group, RecordedType, State } from './group.ts'
import { changed, mistakesIn, textOfChange } from './group.ts'

export interface Request {
  readonly method: 'DELETE' | 'GET' | 'POST' | 'PUT'
  readonly type: RecordedType
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
  readonly body?: JsonObject
  readonly dryRun?: boolean
  readonly asTable?: boolean
}

export interface Reply {
  readonly code: number
  readonly body: JsonObject
  readonly warnings: readonly string[]
}

export type Send = (request: Request) => Promise<Reply>

const namespaces: RecordedType = { kind: 'Namespace', plural: 'namespaces', namespaced: false }

/**
 * Sends all requests of a group. Returns a map from the names of the requests to the recorded forms of their responses, in the order of the
 * requests.
 */
export async function play(group: Group, send: Send): Promise<ReadonlyMap<string, Answer>> {
  const { type, base, create = [], full, states = [] } = group
  const answers = new Map<string, Answer>()
  const namespace = `recorded-${group.name}`
  const place = type.namespaced === false ? { type } : { type, namespace }
  const record = (name: string, answer: Answer): void => {
    if (answers.has(name)) throw new Error(`${group.name}: duplicate request: ${name}`)
    answers.set(name, answer)
  }
  const labels = group.namespaceLabels === undefined ? {} : { labels: { ...group.namespaceLabels } }
  await must(send, { method: 'POST', type: namespaces, body: { metadata: { name: namespace, ...labels } } })
  for (const [other, object] of group.given ?? []) {
    await must(send, { method: 'POST', type: other, ...(other.namespaced === false ? {} : { namespace }), body: withType(other, object) })
  }

  const tryCreate = async (what: string, given: JsonObject, change: Change): Promise<void> => {
    const body = changed(withType(type, { metadata: { name: 'x' }, ...given }), change)
    const reply = await send({ method: 'POST', ...place, body, dryRun: true })
    const answer = answerOf(reply, body, type)
    const unchanged = answers.get(what)
    record(`${what} ${textOfChange(change)}`.trim(), unchanged === undefined ? answer : unlike(answer, unchanged))
  }
  await tryCreate('create', base, {})
  for (const change of create) await tryCreate('create', base, change)
  if (full !== undefined) {
    await tryCreate('full', full, {})
    for (const change of mistakesIn(full)) await tryCreate('full', full, change)
  }

  for (const [index, state] of states.entries()) {
    const name = `${group.name}-${index}`
    const here = `state ${index}`
    const body = changed(withType(type, { metadata: { name }, ...base }), state.from ?? {})
    let object = await must(send, { method: 'POST', ...place, body })
    if (state.status !== undefined)
      object = await must(send, { method: 'PUT', ...place, name, subresource: 'status', body: changed(object, state.status) })
    record(`${here} row`, rowOf(await send({ method: 'GET', ...place, name, asTable: true })))
    await playState(state, object, here)
  }

  async function playState(state: State, { metadata, ...rest }: JsonObject, here: string): Promise<void> {
    const { managedFields: _managedFields, ...kept } = isObject(metadata) ? metadata : {}
    const object = { ...rest, metadata: kept }
    const name = String(kept.name)
    const put = async (change: Change, subresource: string): Promise<void> => {
      const body = changed(object, change)
      const reply = await send({ method: 'PUT', ...place, name, subresource, body, dryRun: true })
      record(`${here} ${subresource === '' ? 'update' : subresource} ${textOfChange(change)}`.trim(), answerOf(reply, body, type))
    }
    for (const change of state.update ?? []) await put(change, '')
    for (const change of state.updateStatus ?? []) await put(change, 'status')
    for (const { method, subresource, body } of state.subresources ?? []) {
      const given = body === undefined ? {} : { body: { ...body, metadata: { name, ...(isObject(body.metadata) ? body.metadata : {}) } } }
      const reply = await send({ method, ...place, name, subresource, ...given, dryRun: true })
      record(`${here} ${method} ${subresource} ${JSON.stringify(body ?? '')}`, answerOf(reply, body ?? {}, type))
    }
    for (const options of state.remove ?? []) {
      const reply = await send({ method: 'DELETE', ...place, name, body: options, dryRun: true })
      record(`${here} delete ${JSON.stringify(options)}`, answerOf(reply, object, type))
    }
  }
  return answers
}

function withType({ group = '', version = 'v1', kind }: RecordedType, object: JsonObject): JsonObject {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...object }
}

/** Sends a request. Throws if the request fails. */
async function must(send: Send, request: Request): Promise<JsonObject> {
  const { code, body } = await send(request)
  if (code >= 300)
    throw new Error(`${request.method} ${request.type.plural}: ${code} ${String(body.message)}\n${JSON.stringify(request.body)}`)
  return body
}
