/** Derives all memory limits of the webhook server from the memory limit of its container. */
import { availableParallelism, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'
import { requestCost } from '../body/memory-budget.ts'

const mebibyte = 1024 * 1024

/** The memory of the process and the number of processors, from which `shareMemory` derives the limits. */
interface ProcessMemory {
  /** Memory limit of the process. */
  readonly limitBytes: number
  /** Memory of the process when it is idle. */
  readonly idleBytes: number
  /** Maximum size of the JavaScript heap. */
  readonly heapLimitBytes: number
  readonly processors: number
}

/** The division of the memory that an idle process leaves. */
export interface MemoryShares {
  readonly limitBytes: number
  /** For all requests in flight. */
  readonly requestBytes: number
  /** The part of `requestBytes` that is reserved for the request that has waited longest; with it, any request can finish. */
  readonly reserveBytes: number
  /** Maximum size of a ConversionReview. */
  readonly conversionBytes: number
  /** Maximum number of open connections. */
  readonly connections: number
  /** Number and heap size of the worker threads for large reviews. */
  readonly threads: { readonly count: number; readonly heapMegabytes: number }
}

/**
 * The memory limit of a process without a container limit; at most half of the machine's memory. All documented limits of the webhook
 * server hold with 1 GiB.
 */
const unlimitedBytes = 1024 * mebibyte
/** Measured: the memory of an idle process with all operators of this package, and its heap. */
const idleBytes = 160 * mebibyte
const idleHeapBytes = 64 * mebibyte
/** Usable part of the memory limit; the other tenth is for connections and the overhead of the allocator. */
const usable = 0.9
/** Minimum memory for requests; with a lower memory limit the process works, but may exceed the limit. */
const leastAvailableBytes = 32 * mebibyte
/**
 * Measured: memory of a thread with the bytes of a review, and the heap that the most expensive review of 7 MiB needs
 * (`test/support/hostile/reviews.ts`).
 */
const threadBytes = 40 * mebibyte
const threadHeapBytes = 96 * mebibyte
/** Part of the available memory that threads may use, and part of the rest that is reserved. */
const threadShare = 0.6
const reserveShare = 0.8
/** The API server sends all objects of a LIST that need conversion in one ConversionReview. */
const maxConversionBytes = 128 * mebibyte
/** Memory for converting a ConversionReview, as a multiple of its size: its bytes, those of the response, and a batch of objects. */
export const conversionCost = 2.5
/** The part of `conversionCost` that is for the batch; an object with very many values needs more. */
export const batchCost = 0.5
/** Measured: while an object is converted, its values and those of the result are in memory. */
export const convertedCopies = 2
/** Measured: memory of one connection with its TLS state. All connections together may use 8 % of the memory limit. */
const connectionBytes = 66 * 1024

/** @param limitBytes Default: the memory limit of the container; without one, half of the machine's memory, at most 1 GiB. */
export function processMemory(limitBytes?: number): ProcessMemory {
  // Without a container limit, this is 0 or a huge number.
  const constrained = process.constrainedMemory()
  const machine = totalmem()
  return {
    limitBytes: limitBytes ?? (constrained > 0 && constrained < machine ? constrained : Math.min(unlimitedBytes, machine / 2)),
    idleBytes: Math.max(idleBytes, process.memoryUsage.rss()),
    heapLimitBytes: getHeapStatistics().heap_size_limit,
    processors: availableParallelism(),
  }
}

/** Returns the smallest limit that `shareMemory` can keep. */
export function leastLimitBytes({ idleBytes }: Pick<ProcessMemory, 'idleBytes'>): number {
  return Math.ceil((idleBytes + leastAvailableBytes) / usable)
}

export function shareMemory({ limitBytes, idleBytes, heapLimitBytes, processors }: ProcessMemory): MemoryShares {
  const available = Math.max(leastAvailableBytes, limitBytes * usable - idleBytes)
  // On one or two processors a single thread leaves time for the event loop.
  const count = processors > 2 && available * threadShare >= 2 * (threadBytes + threadHeapBytes) ? 2 : 1
  const heapBytes = Math.max(threadHeapBytes / 6, Math.min(threadHeapBytes, available * threadShare - threadBytes))
  const left = Math.max(leastAvailableBytes / 2, available - count * (threadBytes + heapBytes))
  // Parsed bodies are on the JavaScript heap, which limits them, too.
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
