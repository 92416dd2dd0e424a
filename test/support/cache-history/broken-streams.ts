/** `withBrokenStreams`: a transport whose watches end after a random number of bytes, and whose lists have small pages. */
import { failure } from '../../../src/api/status.ts'
import { ProreusError } from '../../../src/api/errors.ts'
import { ApiError } from '../../../src/client/api-error.ts'
import type { Transport } from '../../../src/client/transport.ts'
import type { Dice } from '../dice.ts'

const expired = failure(410, 'Expired', 'too old resource version')
/**
 * The maximum of the random limit in bytes that each watch gets. If the connection of a watch breaks, the watch ends exactly at its limit.
 * The last event is then usually incomplete. If the server ends a watch, the watch ends between two events, close to its limit.
 */
const longestBytes = 30_000
/** The number of objects in a page. The lists of the test have several pages. */
const pageSize = 7

export interface BrokenStreams extends Transport {
  /** The number of watches that ended with each fault. */
  readonly counts: { cut: number; ended: number; expired: number; refused: number }
  /** Ends the faults: later watches are forwarded unchanged. */
  heal(): void
}

/**
 * Forwards all requests to `transport`. Some watches are refused with 410. The other watches end after some bytes in one of three ways: the
 * connection breaks, the server ends the watch between two events, or the server sends an ERROR event with 410.
 */
export function withBrokenStreams(transport: Transport, dice: Dice): BrokenStreams {
  const counts = { cut: 0, ended: 0, expired: 0, refused: 0 }
  let healed = false

  async function* broken(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let left = dice.upTo(longestBytes)
    const end = dice.pick(['cut', 'cut', 'ended', 'expired'] as const)
    for await (const chunk of stream) {
      left -= chunk.length
      // If the connection breaks (`cut`), the watch can end within an event. If the server ends the watch, with or without an ERROR event,
      // the watch ends between two events.
      const endsAt = end === 'cut' ? chunk.length + left : chunk.indexOf('\n') + 1
      if (healed || left > 0 || (end !== 'cut' && endsAt === 0)) {
        yield chunk
        continue
      }
      counts[end] += 1
      yield chunk.subarray(0, endsAt)
      if (end === 'cut') throw new ProreusError('PRO_API_UNREACHABLE', 'The connection broke.')
      if (end === 'expired') yield Buffer.from(`${JSON.stringify({ type: 'ERROR', object: expired })}\n`)
      return
    }
  }

  return {
    counts,
    heal: () => void (healed = true),
    close: () => transport.close(),
    request: (request) => {
      const limit = request.query?.['limit'] === undefined ? {} : { limit: pageSize }
      return transport.request({ ...request, query: { ...request.query, ...limit } })
    },
    async stream(request) {
      if (!healed && dice.chance(0.15)) {
        counts.refused += 1
        throw new ApiError(expired, request)
      }
      return broken(await transport.stream(request))
    },
  }
}
