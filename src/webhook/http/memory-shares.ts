/** Derives the memory limits of the webhook server from the memory limit of its container. */
import { availableParallelism, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { requestCost } from '../body/memory-budget.ts'

const mebibyte = 1024 * 1024

/** The input of `shareMemory`. All sizes are in bytes. */
interface ProcessMemory {
  /** The memory limit of the process. */
  readonly limitBytes: number
  /** The memory that the process takes when it serves no request. */
  readonly idleBytes: number
  /** The maximum size of the JavaScript heap. */
  readonly heapLimitBytes: number
  readonly processors: number
}

/** The result of `shareMemory`: the shares of the memory limit, and the limits of the webhook server that result from them. */
export interface MemoryShares {
  readonly limitBytes: number
  /** The memory budget for all requests in flight. */
  readonly requestBytes: number
  /**
   * The reserve: the part of `requestBytes` that only the request that has waited longest may use. The reserve is sufficient for any
   * request, so one request can always finish.
   */
  readonly reserveBytes: number
  /** The maximum size of a ConversionReview. */
  readonly conversionBytes: number
  /** The maximum number of open connections. */
  readonly connections: number
  /** The number of worker threads for large reviews, and the heap limit of each thread. */
  readonly threads: { readonly count: number; readonly heapMegabytes: number }
}

/**
 * If the container has no memory limit, `processMemory` uses half of the memory of the machine as the memory limit, but at most this number
 * of bytes. A memory limit of 1 GiB is sufficient for the greatest values in `docs/reference/limits.md`, e.g. ConversionReviews of 128 MiB.
 */
const unlimitedBytes = 1024 * mebibyte
/** The memory and the JavaScript heap of an idle process with all operators of this package. Both values were measured. */
const idleBytes = 160 * mebibyte
const idleHeapBytes = 64 * mebibyte
/**
 * The fraction of the memory limit that `shareMemory` divides. The remaining tenth is for connections and for the overhead of the
 * allocator.
 */
const usable = 0.9
/**
 * Minimum of the memory for requests and worker threads. If the memory limit leaves less memory for them, this minimum is used. In this
 * case, the process works, but may exceed the memory limit.
 */
const leastAvailableBytes = 32 * mebibyte
/**
 * The measured sizes from which the memory of a worker thread is calculated. `threadBytes` is the memory of a worker thread that has
 * received a review. `threadHeapBytes` is the heap that a worker thread needs for the most expensive review of 7 MiB
 * (`test/support/hostile/reviews.ts`).
 */
const threadBytes = 40 * mebibyte
const threadHeapBytes = 96 * mebibyte
/**
 * - `threadShare` is the fraction of the available memory that all worker threads together may use. The heap of a worker thread is at least
 *   a sixth of `threadHeapBytes`. If the fraction of the memory is too small for this minimum, the process has only one worker thread, and
 *   this thread uses more memory than the fraction.
 * - `reserveShare` is the maximum of `reserveBytes`, as a fraction of `requestBytes`.
 */
const threadShare = 0.6
const reserveShare = 0.8
/**
 * Upper bound for the size of a ConversionReview. For a LIST, the API server sends all objects that need conversion in one
 * ConversionReview.
 */
const maxConversionBytes = 128 * mebibyte
/**
 * The memory for a ConversionReview, as a multiple of the size of its body. The body, the response and the object that is being converted
 * are in memory. Only one object is converted at a time.
 */
export const conversionCost = 2.5
/**
 * The memory for the object that is being converted, as a multiple of the size of the body of the ConversionReview. This memory is included
 * in `conversionCost`. If the conversion of the largest object of the review needs more memory, `conversion-route.ts` reserves the
 * additional memory.
 */
export const batchCost = 0.5
/**
 * The number of copies of an object's values that are in memory while the object is converted: one in the object, and one in the result.
 * The number was measured.
 */
export const convertedCopies = 2
/** The measured memory of one connection with its TLS state. All connections together may use 8 % of the memory limit. */
const connectionBytes = 66 * 1024

/**
 * Returns the input of `shareMemory` for this process.
 *
 * @param limitBytes the memory limit. Default: the memory limit of the container. If the container has no limit, the default is half of the
 *   machine's memory, at most 1 GiB.
 */
export function processMemory(limitBytes?: number): ProcessMemory {
  return {
    limitBytes: limitBytes ?? containerLimitBytes() ?? Math.min(unlimitedBytes, totalmem() / 2),
    idleBytes: Math.max(idleBytes, process.memoryUsage.rss()),
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    processors: availableParallelism(),
  }
}

/** Returns the memory limit of the container in bytes; undefined if the container has no limit. */
export function containerLimitBytes(): number | undefined {
  // If the container has no limit, `constrainedMemory` returns 0 or a huge number.
  const constrained = process.constrainedMemory()
  return constrained > 0 && constrained < totalmem() ? constrained : undefined
}

/** Returns the smallest memory limit in bytes that leaves `leastAvailableBytes` for requests and worker threads. */
export function leastLimitBytes({ idleBytes }: Pick<ProcessMemory, 'idleBytes'>): number {
  return Math.ceil((idleBytes + leastAvailableBytes) / usable)
}

export function shareMemory({ limitBytes, idleBytes, heapLimitBytes, processors }: ProcessMemory): MemoryShares {
  const available = Math.max(leastAvailableBytes, limitBytes * usable - idleBytes)
  // A second thread requires enough memory and a third processor. Two processors are for the threads, and one is for the event loop.
  const count = processors > 2 && available * threadShare >= 2 * (threadBytes + threadHeapBytes) ? 2 : 1
  const heapBytes = Math.max(threadHeapBytes / 6, Math.min(threadHeapBytes, available * threadShare - threadBytes))
  const left = Math.max(leastAvailableBytes / 2, available - count * (threadBytes + heapBytes))
  // Parsed bodies are on the JavaScript heap, so the heap limit also applies to them.
  const requestBytes = Math.floor(Math.min(left, Math.max(leastAvailableBytes / 2, heapLimitBytes - idleHeapBytes)))
  const reserveBytes = Math.floor(Math.min(requestBytes * reserveShare, requestCost + maxConversionBytes * conversionCost))
  return {
    limitBytes,
    requestBytes,
    reserveBytes,
    conversionBytes: Math.floor(Math.min(maxConversionBytes, (reserveBytes - requestCost) / conversionCost)),
    connections: Math.max(64, Math.floor((limitBytes * 0.08) / connectionBytes)),
    threads: { count, heapMegabytes: Math.floor(heapBytes / mebibyte) },
  }
}
