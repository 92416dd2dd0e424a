/** Heap snapshots and CPU profiles of this process, in the formats that the developer tools of Chrome open. */
import { Session } from 'node:inspector/promises'
import type { Readable } from 'node:stream'
import { getHeapSnapshot, getHeapStatistics } from 'node:v8'
import type { Clock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'
import type { Answer, Handler } from './http-endpoint.ts'

/** Maximum duration of a CPU profile in seconds. A profile has about a thousand samples a second, all of which are in memory. */
const maxSeconds = 60
const defaultSeconds = 10

export interface ProfileOptions {
  readonly clock: Clock
  /** The memory limit of the process in bytes. */
  readonly memoryLimitBytes: number
}

/**
 * Returns the handlers of `/debug/heap` and `/debug/profile?seconds=N`. One of them runs at a time, because each of them needs much memory
 * or CPU time.
 */
export function profileHandlers({ clock, memoryLimitBytes }: ProfileOptions): Handler[] {
  let running: string | undefined

  /** Calls `produce`, unless another profile is running. The profile ends when `produce` calls its argument, or throws. */
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
    (url) => (url.pathname === '/debug/heap' ? alone('heap snapshot', (end) => heapSnapshot(memoryLimitBytes, end)) : undefined),
    (url, { signal }) => {
      if (url.pathname !== '/debug/profile') return undefined
      const seconds = Number(url.searchParams.get('seconds') ?? defaultSeconds)
      if (!(seconds > 0 && seconds <= maxSeconds)) return { code: 400, body: `seconds is a number above 0, of at most ${maxSeconds}\n` }
      return alone('CPU profile', (end) => cpuProfile(seconds, clock, signal).finally(end))
    },
  ]
}

/**
 * Returns a heap snapshot as a stream. The event loop is blocked while V8 takes the snapshot, which needs about as much memory as the heap.
 * It is refused when this memory is not available, because the kernel would kill the process.
 */
function heapSnapshot(memoryLimitBytes: number, end: () => void): Answer {
  const { used_heap_size: heap } = getHeapStatistics()
  const left = memoryLimitBytes - process.memoryUsage.rss()
  if (left < heap) {
    end()
    const [needed, available] = [heap, Math.max(0, left)].map((bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`)
    return { code: 503, body: `a heap snapshot needs ${needed}, and ${available} are left below the memory limit\n` }
  }
  const body: Readable = getHeapSnapshot()
  body.once('close', end)
  return { code: 200, body, ...download('application/json', 'heapsnapshot') }
}

async function cpuProfile(seconds: number, clock: Clock, signal: AbortSignal): Promise<Answer> {
  const session = new Session()
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
