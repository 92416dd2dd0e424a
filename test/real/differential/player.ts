/**
 * Plays a scenario on the real and on the embedded control plane in parallel, and compares their responses to each request.
 *
 * A scenario is a YAML file in `scenarios/`. It contains only requests: the expected responses are those of the real control plane.
 *
 *     about: One sentence that describes the scenario.
 *     controllers: true          # default: false; true runs the controllers of namespaces, ServiceAccounts, Pods and garbage collection
 *     namespaces: [a, b]         # created before the steps; ${ns} is the first name; default: diff-NAME for the file NAME.yaml
 *     users: [{ name: reader, rules: [{ apiGroups: [''], resources: [pods], verbs: [get] }] }]
 *     values: { base: /apis/example.com/v1 }     # the steps can contain ${base}
 *     steps:
 *       - id: create             # unique in the scenario
 *         POST: /api/v1/namespaces/${ns}/configmaps?dryRun=All     # the key is any HTTP method
 *         body: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } }   # a string is sent unchanged; `base64: …` sends bytes
 *         contentType: merge     # json (default), yaml, merge, strategic, json-patch, apply, protobuf, or a complete media type
 *         accept: table          # json (default), yaml, table, metadata, metadata-list, protobuf, or a complete media type
 *         headers: { if-none-match: '"x"' }
 *         user: reader           # default: the administrator
 *         capture: { rv: metadata.resourceVersion }    # later steps can contain ${rv}; the path `header:etag` captures a header
 *       - id: is-active          # repeated until the response matches `until`; the last responses are compared
 *         GET: /api/v1/namespaces/x
 *         until: { status: 200, status.phase: Active, metadata.deletionTimestamp: null }   # `status`: HTTP status; null: absent field
 *       - id: invalid            # played for each entry of `each`, with the ids invalid/too-long and invalid/empty
 *         POST: /api/v1/namespaces/${ns}/configmaps
 *         body: { metadata: { name: '${name}' } }
 *         each: { too-long: { name: '${x*300}' }, empty: { name: '' } }     # ${case}: the key; ${it}: the value, if it is no map
 *       - id: watch              # compared: the events, and whether the server has ended the watch
 *         WATCH: /api/v1/namespaces/${ns}/configmaps?watch=true&resourceVersion=${rv}
 *         events: 2              # the watch ends after this number of events, or after `seconds` (default: 10)
 *         while: [ … ]           # steps that are played while the watch is open
 *
 * A value is captured from the response of each control plane. In the requests to a control plane, `${rv}` is the value from its own
 * response. A string that consists only of `${name}` is replaced by the value, which can have any type. `${x*300}` is 300 times the letter
 * x.
 */
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { jsonEqual } from '../../../src/api/json.ts'
import type { ControlPlane } from '../../../src/testing/control-plane-types.ts'
import type { Difference } from './compare.ts'
import { differencesOf } from './compare.ts'
import type { Answer } from './normalise.ts'
import { Normaliser } from './normalise.ts'
import { valueAt } from './path.ts'
import type { Request, Watch } from './requests.ts'
import { Requests, objectOf } from './requests.ts'
import type { Scenario, Step } from './scenario.ts'
import { substitute } from './variables.ts'

/** One request, and the differences between its two responses. */
export interface Comparison {
  readonly scenario: string
  readonly id: string
  readonly request: string
  /** The normalised response of the real API server. */
  readonly real: JsonObject
  readonly embedded: JsonObject
  readonly differences: readonly Difference[]
}

export interface Sides<T> {
  readonly real: T
  readonly embedded: T
}

const mediaTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  'json-patch': 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  table: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
  metadata: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'metadata-list': 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
}

const pollMs = 50
const pollDeadlineMs = 30_000

/** One of the two control planes, and the values that the scenario has captured from its responses. */
class Side {
  readonly requests: Requests
  readonly normaliser: Normaliser
  values: JsonObject

  constructor(controlPlane: ControlPlane, scenario: Scenario) {
    this.requests = new Requests((user) => (user === undefined ? controlPlane.connection : controlPlane.connectionFor(user)))
    this.normaliser = new Normaliser({ countVersions: !scenario.controllers })
    this.values = { ...scenario.values, ns: scenario.namespaces[0] ?? '' }
  }

  /** Returns the HTTP request of a step, with the captured values of this control plane. */
  request(step: Step): Request {
    const { method, path, body, base64, contentType, accept = 'json', headers, values } = step
    const all = { ...this.values, ...values }
    const content = body === undefined ? undefined : substitute(body, all)
    const prefix = valueAt(content, 'metadata.generateName')
    if (typeof prefix === 'string') this.normaliser.expectNamesFrom(prefix)
    const type = substitute(contentType ?? 'json', all) as string
    return {
      method,
      path: substitute(path, all) as string,
      headers: {
        accept: mediaTypes[substitute(accept, all) as string] ?? (substitute(accept, all) as string),
        ...(body === undefined && base64 === undefined ? {} : { 'content-type': mediaTypes[type] ?? type }),
        ...(substitute(headers, all) as Record<string, string>),
      },
      ...(content === undefined ? {} : { body: typeof content === 'string' ? content : JSON.stringify(content) }),
      ...(base64 === undefined ? {} : { body: Buffer.from(base64, 'base64') }),
    }
  }

  async send(step: Step): Promise<Answer> {
    const deadline = Date.now() + pollDeadlineMs
    for (;;) {
      const answer = await this.requests.send(this.request(step), step.user)
      if (step.until === undefined || holds(substitute(step.until, { ...this.values, ...step.values }) as JsonObject, answer)) return answer
      // The step waits for the state that `until` describes. If no response has this state before the deadline, the last response is
      // compared. If only one control plane reaches the state, the comparison reports a difference.
      if (Date.now() > deadline) return answer
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }

  /** Captures values from the response as the step requires, and returns the normalised response. */
  take(step: Step, answer: Answer): JsonObject {
    for (const [name, path] of Object.entries(step.capture)) {
      const header = /^header:(.*)$/.exec(path)?.[1]
      const value = header === undefined ? valueAt(answer.body, path) : answer.headers[header]
      this.values = { ...this.values, [name]: value ?? `nothing at ${path}` }
    }
    return this.normaliser.answer(answer, { dryRun: JSON.stringify([step.path, step.body ?? '']).includes('dryRun') })
  }
}

/** Plays a scenario. Its objects are not deleted afterwards. */
export async function play(scenario: Scenario, controlPlanes: Sides<ControlPlane>): Promise<Comparison[]> {
  const sides = { real: new Side(controlPlanes.real, scenario), embedded: new Side(controlPlanes.embedded, scenario) }
  const comparisons: Comparison[] = []
  try {
    await createNamespaces(scenario, sides)
    for (const step of scenario.steps) await playStep(step)
  } finally {
    await Promise.all([sides.real.requests.close(), sides.embedded.requests.close()])
  }
  return comparisons

  async function playStep(step: Step): Promise<void> {
    if (step.method !== 'WATCH') return compare(step, await both((side) => side.send(step)))
    const watches: Sides<Watch> = await both((side) => side.requests.watch(side.request(step), step, step.user))
    for (const inner of step.while) await playStep(inner)
    compare(step, { real: await watches.real.answer(), embedded: await watches.embedded.answer() })
  }

  async function both<T>(send: (side: Side) => Promise<T>): Promise<Sides<T>> {
    const [real, embedded] = await Promise.all([send(sides.real), send(sides.embedded)])
    return { real, embedded }
  }

  function compare(step: Step, answers: Sides<Answer>): void {
    const request = describe(step, sides.embedded)
    const real = sides.real.take(step, answers.real)
    const embedded = sides.embedded.take(step, answers.embedded)
    comparisons.push({ scenario: scenario.name, id: step.id, request, real, embedded, differences: differencesOf(real, embedded) })
  }
}

async function createNamespaces({ namespaces, controllers }: Scenario, sides: Sides<Side>): Promise<void> {
  const create = async (side: Side): Promise<void> => {
    for (const name of namespaces) {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      await side.requests.send({ method: 'POST', path: '/api/v1/namespaces', headers, body })
      // No Pod can be created before the default ServiceAccount exists.
      const path = `/api/v1/namespaces/${name}/serviceaccounts/default`
      while (controllers && (await side.requests.send({ method: 'GET', path, headers: {} })).status !== 200)
        await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }
  await Promise.all([create(sides.real), create(sides.embedded)])
}

function holds(until: JsonObject, answer: Answer): boolean {
  return Object.entries(until).every(([path, wanted]) => {
    const found: JsonValue | undefined = path === 'status' ? answer.status : valueAt(objectOf(answer), path)
    return wanted === null ? found === undefined : jsonEqual(found, wanted)
  })
}

/** Returns a description of the step's request in one line. */
function describe(step: Step, side: Side): string {
  const { method, path, headers, body } = side.request(step)
  const notable = Object.entries(headers).filter(([, value]) => value !== mediaTypes.json)
  const text = body === undefined ? '' : ` ${Buffer.isBuffer(body) ? '(bytes)' : shorten(body)}`
  const head = notable.map(([name, value]) => ` [${name}: ${Object.keys(mediaTypes).find((key) => mediaTypes[key] === value) ?? value}]`)
  return `${method} ${shorten(path)}${head.join('')}${step.user === undefined ? '' : ` as ${step.user}`}${text}`
}

function shorten(text: string): string {
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}
