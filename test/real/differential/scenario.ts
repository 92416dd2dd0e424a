/** Parses and validates scenario files. Their format is documented in player.ts. */
import { readFileSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import type { JsonObject, JsonValue } from '../../../src/api/json.ts'
import { isObject } from '../../../src/api/json.ts'
import type { ControlPlaneUser } from '../../../src/testing/users.ts'

export interface Scenario {
  readonly name: string
  readonly about: string
  /**
   * True if the scenario needs controllers. Garbage collection, namespaces, ServiceAccounts and Pods depend on controllers. Default: false.
   */
  readonly controllers: boolean
  /**
   * The names of the namespaces that are created before the steps. `${ns}` is the first of these names. By default, a namespace with the
   * name of the scenario is created.
   */
  readonly namespaces: readonly string[]
  readonly users: readonly ControlPlaneUser[]
  /** The values that replace `${name}` in the steps. */
  readonly values: JsonObject
  readonly steps: readonly Step[]
}

export interface Step {
  /** The id of the step. It is unique in the scenario. */
  readonly id: string
  /** The HTTP method, or `WATCH` for a watch. */
  readonly method: string
  readonly path: JsonValue
  readonly body?: JsonValue
  /** The bytes of the body, encoded as base64. */
  readonly base64?: string
  readonly contentType?: string
  readonly accept?: string
  readonly headers: JsonObject
  readonly user?: string
  /**
   * The paths of the values that are captured from the response, keyed by name. For example, `rv: metadata.resourceVersion` captures the
   * resourceVersion, and this value replaces `${rv}` in later steps. The path `header:etag` captures the header `etag`.
   */
  readonly capture: Readonly<Record<string, string>>
  /**
   * The step is repeated until the response has these values. Each key is a path in the response. The key `status` means the HTTP status
   * code. The value null means that the path has no value.
   */
  readonly until?: JsonObject
  /**
   * The values of the placeholders in this step, keyed by name. For example, the value with the key `a` replaces `${a}`. The values come
   * from the step's entry in `each`.
   */
  readonly values: JsonObject
  /** The number of events after which a watch is ended. */
  readonly events?: number
  /** The maximum duration of a watch in seconds. */
  readonly seconds: number
  /** The steps that are played while the watch is open. */
  readonly while: readonly Step[]
}

const folder = join(import.meta.dirname, 'scenarios')
const scenarioKeys = ['about', 'controllers', 'namespaces', 'users', 'values', 'steps']
const stepKeys = [
  'id',
  'body',
  'base64',
  'contentType',
  'accept',
  'headers',
  'user',
  'capture',
  'until',
  'each',
  'events',
  'seconds',
  'while',
]
const defaultWatchSeconds = 10

/** Returns all scenarios, sorted by name. */
export function readScenarios(): Scenario[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  return files.sort().map((name) => parseScenario(basename(name, '.yaml'), readFileSync(join(folder, name), 'utf8')))
}

/** Parses a scenario. Errors contain the name of the scenario and the id of the step. */
export function parseScenario(name: string, text: string): Scenario {
  const document: unknown = parse(text, { merge: true })
  const at = `scenario ${name}`
  if (!isObject(document)) throw new Error(`${at}: expected a map`)
  known(document, scenarioKeys, at)
  const { about, controllers = false, namespaces = [`diff-${name}`], users = [], values = {}, steps } = document
  if (typeof about !== 'string') throw new Error(`${at}: about: expected a sentence`)
  if (!isObject(values)) throw new Error(`${at}: values: expected a map`)
  const scenario = {
    name,
    about,
    controllers: controllers === true,
    namespaces: namespaces as string[],
    users: users as unknown as ControlPlaneUser[],
    values,
    steps: stepsOf(steps, at),
  }
  const seen = new Set<string>()
  for (const { id } of allSteps(scenario.steps)) {
    if (seen.has(id)) throw new Error(`${at}: the id ${id} is listed twice`)
    seen.add(id)
  }
  return scenario
}

/**
 * Returns all steps in one list. In the list, the steps that are played while a watch is open come directly after the step of the watch.
 */
export function allSteps(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => [step, ...allSteps(step.while)])
}

function stepsOf(value: JsonValue | undefined, at: string): Step[] {
  if (!Array.isArray(value)) throw new Error(`${at}: steps: expected a list`)
  return value.flatMap((step) => {
    if (!isObject(step) || typeof step.id !== 'string') throw new Error(`${at}: a step has no id: ${JSON.stringify(step)}`)
    const { each } = step
    if (each === undefined) return [stepOf(step, step.id, {}, at)]
    if (!isObject(each)) throw new Error(`${at}: ${step.id}: each: expected a map`)
    return Object.entries(each).map(([key, values]) => {
      const own = isObject(values) ? values : { it: values }
      return stepOf(step, `${String(step.id)}/${key}`, { case: key, ...own }, at)
    })
  })
}

function stepOf(step: JsonObject, id: string, values: JsonObject, scenario: string): Step {
  const at = `${scenario}: ${id}`
  const method = Object.keys(step).find((key) => /^[A-Z]+$/.test(key))
  if (method === undefined) throw new Error(`${at}: no method such as GET`)
  known(step, [...stepKeys, method], at)
  const { headers = {}, capture = {}, until, seconds = defaultWatchSeconds } = step
  const texts = ['base64', 'contentType', 'accept', 'user'].filter((key) => step[key] !== undefined)
  return {
    id,
    method,
    path: step[method]!,
    ...(step.body === undefined ? {} : { body: step.body }),
    ...Object.fromEntries(texts.map((key) => [key, String(step[key])])),
    headers: headers as JsonObject,
    capture: capture as Record<string, string>,
    ...(until === undefined ? {} : { until: until as JsonObject }),
    values,
    ...(typeof step.events === 'number' ? { events: step.events } : {}),
    seconds: seconds as number,
    while: step.while === undefined ? [] : stepsOf(step.while, at),
  }
}

function known(object: JsonObject, keys: readonly string[], at: string): void {
  const unknown = Object.keys(object).filter((key) => !keys.includes(key))
  if (unknown.length > 0) throw new Error(`${at}: not known: ${unknown.join(', ')}`)
}
