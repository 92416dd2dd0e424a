/** What the memory of the process is used for: every limit of the webhook server follows from the memory limit of its container. */
import { availableParallelism, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { requestCost } from './body/budget.ts'

const mebibyte = 1024 * 1024

/** What a share is made of. */
interface ProcessMemory {
  /** What the process may take in all. */
  readonly limitBytes: number
  /** What it takes before it is sent anything. */
  readonly idleBytes: number
  /** How large the JavaScript heap may become. */
  readonly heapLimitBytes: number
  readonly processors: number
}

/** How the memory that an idle process leaves is shared. */
export interface MemoryShares {
  readonly limitBytes: number
  /** For all requests that wait for an answer. */
  readonly requestBytes: number
  /** The part of it that is kept for the request that has waited longest, so that it can always be finished. */
  readonly reserveBytes: number
  /** The largest ConversionReview that can be converted in that. */
  readonly conversionBytes: number
  /** How many connections may be open. */
  readonly connections: number
  /** For the threads that large reviews are offloaded to. */
  readonly threads: { readonly count: number; readonly heapMegabytes: number }
}

/** Without a limit, no more than this, and no more than half of the machine: all stated limits hold with it. */
const unlimitedBytes = 1024 * mebibyte
/** An idle process with all shipped operators, by measurement; of its heap, a third. */
const idleBytes = 160 * mebibyte
const idleHeapBytes = 64 * mebibyte
/** For connections and what the allocator cannot use: a tenth. */
const usable = 0.9
/** With less the process works, and cannot be kept within its limit. */
const leastAvailableBytes = 32 * mebibyte
/** By measurement: a thread with the bytes of a review, and the heap in which it can review the hardest 7 MiB (`test/support/hostile-reviews.ts`). */
const threadBytes = 40 * mebibyte
const threadHeapBytes = 96 * mebibyte
/** What the threads may have of the memory that an idle process leaves, and of the rest the reserve. */
const threadShare = 0.6
const reserveShare = 0.8
/** A ConversionReview has a whole list: the API server sends all objects of a LIST that need it at once. */
const maxConversionBytes = 128 * mebibyte
/** What a ConversionReview takes while it is converted, as a multiple of its size: its bytes, those of the answer, and a batch in between. */
export const conversionCost = 2.5
/** The part of that which is for the batch; an object with very many values takes more. */
export const batchCost = 0.5
/** By measurement: while an object is converted there are its values, and as many of what comes of it. */
export const convertedCopies = 2
/** By measurement, with its TLS state; the connections may have 8 % of the limit. */
const connectionBytes = 66 * 1024

/** @param limitBytes Default: the memory limit of the container; without one, half of the machine's memory, at most 1 GiB. */
export function processMemory(limitBytes?: number): ProcessMemory {
  // Huge where there is no limit.
  const constrained = process.constrainedMemory()
  const machine = totalmem()
  return {
    limitBytes: limitBytes ?? (constrained > 0 && constrained < machine ? constrained : Math.min(unlimitedBytes, machine / 2)),
    idleBytes: Math.max(idleBytes, process.memoryUsage.rss()),
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    processors: availableParallelism(),
  }
}

/** The least limit with which `shareMemory` keeps to it. */
export function leastLimitBytes({ idleBytes }: Pick<ProcessMemory, 'idleBytes'>): number {
  return Math.ceil((idleBytes + leastAvailableBytes) / usable)
}

export function shareMemory({ limitBytes, idleBytes, heapLimitBytes, processors }: ProcessMemory): MemoryShares {
  const available = Math.max(leastAvailableBytes, limitBytes * usable - idleBytes)
  // One leaves a processor to the event loop.
  const count = processors > 2 && available * threadShare >= 2 * (threadBytes + threadHeapBytes) ? 2 : 1
  const heapBytes = Math.max(threadHeapBytes / 6, Math.min(threadHeapBytes, available * threadShare - threadBytes))
  const left = Math.max(leastAvailableBytes / 2, available - count * (threadBytes + heapBytes))
  // What is read of bodies is in the heap.
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
