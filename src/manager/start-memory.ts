/** `releaseStartMemory`: frees memory that the process has used during its start and no longer needs. */
import { Session } from 'node:inspector/promises'
import type { Clock } from '../runtime/clock.ts'
import { sleep } from '../runtime/waiting.ts'

/** The process is idle when it uses less than a tenth of a CPU for this time in milliseconds. */
const idleMs = 500
const idleShare = 0.1
/**
 * Maximum number of checks whether the process is idle. Each check takes 500 ms. If the process is still busy after a minute, no garbage is
 * collected, because the process then needs the memory for its work.
 */
const maxAttempts = 120
/**
 * Maximum heap size in bytes at which `releaseStartMemory` collects garbage. The limit exists because a collection blocks the event loop:
 * 90 ms for a heap of 20 MiB, 150 ms for 60 MiB. In a larger heap, only V8 itself collects garbage.
 */
const maxHeapBytes = 64 * 2 ** 20

export interface StartMemoryOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The process whose usage is measured. Default: this process. Tests replace `usage` and `collect`. */
  readonly usage?: Pick<NodeJS.Process, 'cpuUsage' | 'memoryUsage'>
  readonly collect?: () => Promise<void>
}

/**
 * Collects garbage once, when the process is idle for the first time. The collection frees a tenth of the memory of an idle operator.
 *
 * V8's memory reducer would also collect this garbage, but it never starts in Node.js. The memory reducer waits until the allocation rate
 * of Oilpan, V8's collector for C++ objects, is low. When Oilpan has no allocations, V8 assumes a high rate. `node --trace-memory-reducer`
 * then prints "high alloc".
 *
 * Resolves without a collection when the heap is too large, when the process remains busy, or when the signal aborts.
 */
export async function releaseStartMemory(options: StartMemoryOptions): Promise<void> {
  const { clock, signal, usage = process, collect = collectGarbage } = options
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const before = usage.cpuUsage()
    try {
      await sleep(clock, idleMs, signal)
    } catch {
      return
    }
    const { user, system } = usage.cpuUsage(before)
    if ((user + system) / 1000 >= idleMs * idleShare) continue
    if (usage.memoryUsage().heapUsed <= maxHeapBytes) await collect()
    return
  }
}

/** Collects all garbage, and shrinks the heap. An ordinary garbage collection does not shrink the heap. */
export async function collectGarbage(): Promise<void> {
  const session = new Session()
  session.connect()
  try {
    await session.post('HeapProfiler.collectGarbage')
  } finally {
    session.disconnect()
  }
}
