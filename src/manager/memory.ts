/** The memory of the process, as its webhook server shares it. */
import type { Logger } from '../telemetry/logger.ts'
import type { MemoryShares } from '../webhook/memory.ts'
import { leastLimitBytes, processMemory, shareMemory } from '../webhook/memory.ts'

/** The shares of a limit, default: that of the container. Warns when it is too small to be kept to. */
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
