import t from 'tap'
import * as limits from '../../../src/webhook/http/limits.ts'

t.test('the limits are those that the API server never reaches', (t) => {
  t.strictSame(
    { ...limits },
    {
      maxReviewBytes: 7_340_032,
      keepAliveMs: 120_000,
      maxHeaderBytes: 16_384,
      slowSenders: { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 5_000 },
      usualConnectionLimits: { handshakeMs: 10_000, pipelined: 4, requestMs: 60_000 },
    },
  )
  t.end()
})
