/** Computes the memory limits of the webhook server, and warns about a limit that is too small. */
import type { Logger } from '../telemetry/logger.ts'
import type { MemoryShares } from '../webhook/http/memory-shares.ts'
import { leastLimitBytes, processMemory, shareMemory } from '../webhook/http/memory-shares.ts'

/**
 * Returns the memory limits of the webhook server. Logs a warning if the memory limit of the process is so small that one large request, or
 * many requests together, could exceed the limit.
 *
 * @param limitBytes the memory limit of the process. See `processMemory` for the default.
 */
export function memoryFor(limitBytes: number | undefined, logger: Logger): MemoryShares {
  const memory = processMemory(limitBytes)
  const least = leastLimitBytes(memory)
  if (memory.limitBytes < least) {
    const text = `The memory limit of ${memory.limitBytes} bytes is less than this process needs for certain, ${least}: large or many requests may end it.`
    logger.warn({ limit: memory.limitBytes, least }, text)
  }
  const shares = shareMemory(memory)
  logger.debug({ memory: shares }, 'shared the memory')
  return shares
}
