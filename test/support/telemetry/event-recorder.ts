/** `setUp`: creates an event recorder for a test, and collects the write requests of the recorder in `writes`. */
import type { Event } from '../../../src/api/builtin.ts'
import type { KubernetesObject, ObjectInput, ObjectKey } from '../../../src/api/object.ts'
import type { Status } from '../../../src/api/status.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { EventRecorderOptions } from '../../../src/telemetry/event-recorder.ts'
import { createEventRecorder } from '../../../src/telemetry/event-recorder.ts'
import type { EventWriter } from '../../../src/telemetry/event-writes.ts'
import { FakeClock } from '../../../src/testing/fake-clock.ts'
import { recordingLogger } from '../recording-logger.ts'

export type Write = { verb: 'create'; object: ObjectInput<Event> } | { verb: 'patch'; key: ObjectKey; patch: object }

export function setUp(fail: (write: Write) => Error | undefined = () => undefined): {
  clock: FakeClock
  writes: Write[]
  client: EventWriter
  options: EventRecorderOptions
  recorder: ReturnType<typeof createEventRecorder>
  lines: string[]
  entries: Record<string, unknown>[]
} {
  const clock = new FakeClock('2026-05-06T07:08:09Z')
  const writes: Write[] = []
  const accept = async (write: Write): Promise<void> => {
    writes.push(write)
    const error = fail(write)
    if (error !== undefined) throw error
  }
  const client = {
    create: (_type: unknown, object: ObjectInput<Event>) => accept({ verb: 'create', object }),
    patch: (_type: unknown, key: ObjectKey, patch: object) => accept({ verb: 'patch', key, patch }),
  } as unknown as EventWriter
  const { logger, lines, entries } = recordingLogger('debug')
  const options = { component: 'proreus', instance: 'pod-1', logger, clock, random: () => 0.5 }
  return { clock, writes, lines, entries, client, options, recorder: createEventRecorder(client, options) }
}

export function apiError(code: number): ApiError {
  return new ApiError({ kind: 'Status', status: 'Failure', code, message: `no (${code})` } as Status, { method: 'POST', path: '/events' })
}

export const object = (name = 'a', namespace?: string): KubernetesObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '7', creationTimestamp: '', ...(namespace === undefined ? {} : { namespace }) },
})

/** Returns the key of the event that this write creates. */
export function created(write: Write | undefined): ObjectKey {
  if (write?.verb !== 'create') throw new Error('no event was made')
  const { namespace, name } = write.object.metadata
  return { namespace: namespace!, name: name! }
}
