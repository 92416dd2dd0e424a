/** Runs a controller whose cache and API server are scripted. */
import type { Test } from 'tap'
import { deepFreeze } from '../../../src/api/json.ts'
import type { ResourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import { failure } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { ControllerDefinition } from '../../../src/controller/builder.ts'
import { runController } from '../../../src/controller/run-controller.ts'
import type { EventRecorder } from '../../../src/telemetry/event-recorder.ts'
import { until } from '../../../src/testing/until.ts'
import type { ControllerWorld } from '../controller/fakes.ts'
import { controllerWorld } from '../controller/fakes.ts'

/** The time at which the clock of a scripted controller starts. */
export const time = '2026-01-01T00:00:00Z'
export const apiError = (code: number, reason: string): ApiError => new ApiError(failure(code, reason, reason))
export const [notFound, conflict, exists, forbidden] = [
  apiError(404, 'NotFound'),
  apiError(409, 'Conflict'),
  apiError(409, 'AlreadyExists'),
  apiError(403, 'Forbidden'),
]

let version = 0
/** Returns a frozen object in the namespace `ns`, with a unique resourceVersion. */
export function objectOf(name: string, fields: object = {}, metadata: object = {}): KubernetesObject {
  const own = { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: String(++version), ...metadata }
  return deepFreeze({ metadata: own, ...fields }) as unknown as KubernetesObject
}

/** Returns a Pod with one container. */
export const podOf = (name: string, spec: object = {}, fields: object = {}, metadata: object = {}): KubernetesObject =>
  objectOf(name, { spec: { containers: [{ name: 'main', image: 'x:1' }], ...spec }, ...fields }, metadata)

/** Returns the response of the API server to a request; `method` is the name of a method of `Client`. */
export type Answer = (method: string, ...given: never[]) => unknown

export interface ScriptedController extends ControllerWorld {
  /** The requests to the API server, each as the method of `Client` and its arguments without the signal. */
  readonly asked: unknown[][]
  readonly events: string[]
  /** Adds objects of a type to the controllers' cache. */
  set(type: ResourceType, ...objects: KubernetesObject[]): void
  /** Waits until there are `count` requests, removes them from the list, and returns them. */
  take(count: number): Promise<unknown[][]>
}

/** Runs a controller until the end of the test. `answer` returns the response of the API server to each request. */
export function runScripted(
  t: Test,
  make: (world: ControllerWorld, events: EventRecorder) => ControllerDefinition,
  answer: Answer = () => ({}),
): ScriptedController {
  const asked: unknown[][] = []
  const events: string[] = []
  const methods = ['create', 'update', 'updateStatus', 'patch', 'patchStatus', 'delete', 'raw', 'list', 'get']
  const client = Object.fromEntries(
    methods.map((method) => [
      method,
      async (...given: unknown[]) => {
        t.ok((given.at(-1) as { signal?: unknown }).signal instanceof AbortSignal, `${method} ends with the controller`)
        asked.push([method, ...given.map(withoutSignal)])
        return await Promise.resolve(answer(method, ...(given as never[])))
      },
    ]),
  )
  const world = controllerWorld(client)
  const environment = {
    ...world.environment,
    events: {
      event: (object: { metadata: { name: string } }, type: string, reason: string, message: string) =>
        void events.push(`${object.metadata.name} ${type} ${reason}: ${message}`),
    },
  }
  const definition = make(world, environment.events)
  for (const type of definition.types) world.cache.of(type).sync()
  const running = runController(definition, environment as never, world.stop.signal)
  t.teardown(async () => {
    world.stop.abort()
    await running
  })
  return {
    ...world,
    asked,
    events,
    set: (type, ...objects) => objects.forEach((object) => world.cache.of(type).set(object)),
    take: async (count) => {
      await until(`${count} requests`, () => asked.length >= count)
      await new Promise((resolve) => setImmediate(resolve))
      return asked.splice(0)
    },
  }
}

function withoutSignal(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given
  if ('plural' in given) return (given as ResourceType).plural
  const { signal: _signal, ...rest } = given as { signal?: AbortSignal }
  return rest
}

/** Waits until the controller has done all work that does not wait for a timer. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
