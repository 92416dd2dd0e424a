/** Heap snapshots and CPU profiles of this process, in the formats that the developer tools of Chrome open. */
import { Session } from 'node:inspector'
import { Session as PromisesSession } from 'node:inspector/promises'
import type { Readable } from 'node:stream'
import { getHeapSnapshot, getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import type { Clock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'
import type { Answer, Handler } from './http-endpoint.ts'

/** Maximum duration of a CPU profile in seconds. A profile has about a thousand samples a second, all of which are in memory. */
const maxSeconds = 60
const defaultSeconds = 10

/**
 * Memory that V8 needs for a snapshot and its JSON text, in bytes for each byte of the heap. The values measured with Node.js 24 are lower:
 * 8 to 13 for heaps of JSON objects, 8 for heaps of the smallest objects, and 1 for heaps of long strings.
 */
const snapshotBytesPerHeapByte = 14
/**
 * Memory that V8 needs for a snapshot in addition to `snapshotBytesPerHeapByte`. The unit is bytes for each byte of the large objects. A
 * large object is an object that does not fit into an ordinary page of the heap.
 *
 * In a snapshot, each index of an array has a name, and all arrays share the names. V8 allocates 1024 bytes for each name
 * (`v8::internal::StringsStorage`). In the heap, the element at an index needs only 8 bytes. Only long arrays and hash tables need many
 * names, and both are large objects.
 */
const snapshotBytesPerLargeByte = 1024 / 8

export interface ProfileOptions {
  readonly clock: Clock
  /** The memory limit of the process in bytes. */
  readonly memoryLimitBytes: number
}

/**
 * Returns the handlers of `/debug/heap` and `/debug/profile?seconds=N`. Only one heap snapshot or CPU profile runs at a time, because each
 * needs much memory or CPU time.
 */
export function profileHandlers({ clock, memoryLimitBytes }: ProfileOptions): Handler[] {
  let running: string | undefined
  // At the start of the process, the large objects in the heap are the source texts of the modules. These texts are strings. A snapshot
  // needs the additional memory `snapshotBytesPerLargeByte` only for objects that have many elements with an index, such as long arrays. A
  // string has no such elements. Therefore, the size of the source texts is measured here, and `heapSnapshot` subtracts this size from the
  // size of the large objects.
  collectGarbage()
  const sourceBytes = largeObjectBytes()

  /**
   * Calls `produce`. While another profile or snapshot is running, returns 429 instead. A profile or snapshot is running until `end` is
   * called, or `produce` throws.
   */
  async function alone(name: string, produce: (end: () => void) => Promise<Answer> | Answer): Promise<Answer> {
    if (running !== undefined) return { code: 429, body: `a ${running} is running: try again later\n`, headers: { 'retry-after': '10' } }
    running = name
    const end = (): void => void (running = undefined)
    try {
      return await produce(end)
    } catch (error) {
      end()
      throw error
    }
  }

  return [
    (url) =>
      url.pathname === '/debug/heap' ? alone('heap snapshot', (end) => heapSnapshot({ memoryLimitBytes, sourceBytes, end })) : undefined,
    (url, { signal }) => {
      if (url.pathname !== '/debug/profile') return undefined
      const seconds = Number(url.searchParams.get('seconds') ?? defaultSeconds)
      if (!(seconds > 0 && seconds <= maxSeconds)) return { code: 400, body: `seconds is a number above 0, of at most ${maxSeconds}\n` }
      return alone('CPU profile', (end) => cpuProfile(seconds, clock, signal).finally(end))
    },
  ]
}

interface SnapshotOptions {
  readonly memoryLimitBytes: number
  /** The size in bytes of V8's large objects at the start of the process. These objects are the source texts of the modules. */
  readonly sourceBytes: number
  /** Called when the snapshot has been sent or refused. */
  readonly end: () => void
}

/**
 * Returns a heap snapshot as a stream. The event loop is blocked while V8 takes the snapshot, for about 0.1 s per MiB of the heap. If there
 * is not enough memory for the snapshot, the request is refused. Without this check, the kernel could kill the process.
 */
function heapSnapshot({ memoryLimitBytes, sourceBytes, end }: SnapshotOptions): Answer {
  // V8 collects garbage before it takes a snapshot. Garbage is therefore collected here too, so that the measured size of the heap contains
  // no garbage.
  collectGarbage()
  const { used_heap_size: heap } = getHeapStatistics()
  const needed = heap * snapshotBytesPerHeapByte + Math.max(0, largeObjectBytes() - sourceBytes) * snapshotBytesPerLargeByte
  const used = process.memoryUsage.rss()
  if (memoryLimitBytes - used < needed) {
    end()
    return { code: 503, body: refusal({ heap, needed, used, memoryLimitBytes }) }
  }
  const body: Readable = getHeapSnapshot()
  body.once('close', end)
  return { code: 200, body, ...download('application/json', 'heapsnapshot') }
}

function refusal({ heap, needed, used, memoryLimitBytes }: Record<'heap' | 'needed' | 'used' | 'memoryLimitBytes', number>): string {
  const mebibytes = (bytes: number): string => `${Math.ceil(Math.max(0, bytes) / 2 ** 20)} MiB`
  return (
    `a heap snapshot needs ${mebibytes(needed)}, and ${mebibytes(memoryLimitBytes - used)} are left below the memory limit of ` +
    `${mebibytes(memoryLimitBytes)}, while the heap has ${mebibytes(heap)}: raise the memory limit to ${mebibytes(used + needed)}. A process ` +
    `that runs out of heap anyway can write a snapshot to a file before it ends: NODE_OPTIONS=--heapsnapshot-near-heap-limit=1\n`
  )
}

/** Returns the size in bytes of the objects that are too large for the ordinary pages of the heap. */
function largeObjectBytes(): number {
  const sizes = getHeapSpaceStatistics().map(({ space_name: name, space_used_size: size }) =>
    name.endsWith('large_object_space') ? size : 0,
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

function collectGarbage(): void {
  const session = new Session()
  session.connect()
  // The session inspects its own thread. V8 therefore executes the command before `post` returns.
  session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}

async function cpuProfile(seconds: number, clock: Clock, signal: AbortSignal): Promise<Answer> {
  const session = new PromisesSession()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    await sleep(clock, seconds * 1000, signal)
    const { profile } = await session.post('Profiler.stop')
    return { code: 200, body: JSON.stringify(profile), ...download('application/json', 'cpuprofile') }
  } finally {
    session.disconnect()
  }
}

function download(contentType: string, extension: string): Pick<Answer, 'contentType' | 'headers'> {
  return { contentType, headers: { 'content-disposition': `attachment; filename="${process.pid}.${extension}"` } }
}
