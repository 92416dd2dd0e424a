import t from 'tap'
import { memoryFor } from '../../src/manager/webhook-memory.ts'
import { leastLimitBytes, processMemory, shareMemory } from '../../src/webhook/http/memory-shares.ts'
import { recordingLogger } from '../support/recording-logger.ts'

t.test('a memory limit that is too small is a warning with both numbers', (t) => {
  const small = 1024 * 1024
  const { logger, entries } = recordingLogger('debug')
  const shares = memoryFor(small, logger)
  const [warning, debug, ...others] = entries
  const { msg, level, limit, least } = warning!
  t.strictSame({ level, limit }, { level: 'warn', limit: small })
  t.ok((least as number) > small)
  t.equal(
    msg,
    `The memory limit of 1048576 bytes is less than this process needs for certain, ${least}: large or many requests may end it.`,
  )
  t.match(debug, { level: 'debug', msg: 'shared the memory' })
  t.strictSame(debug!.memory, JSON.parse(JSON.stringify(shares)))
  t.strictSame(others, [])

  const enough = recordingLogger()
  const limit16 = 16 * 2 ** 30
  const shares16 = memoryFor(limit16, enough.logger)
  t.strictSame(Object.keys(shares16), Object.keys(shareMemory({ ...processMemory(limit16) })))
  t.ok(leastLimitBytes(processMemory(limit16)) < limit16)
  t.strictSame(enough.lines, [])
  t.end()
})

t.test('a memory limit that just suffices is no warning', (t) => {
  const mebibyte = 2 ** 20
  t.intercept(process.memoryUsage, 'rss', { value: () => 100 * mebibyte })
  // The smallest limit without a warning. Nine tenths of this limit are 192 MiB: 160 MiB for the idle process, and 32 MiB for requests and
  // worker threads. The idle process uses only 100 MiB in this test, but at least 160 MiB are assumed.
  const least = Math.ceil((192 * mebibyte) / 0.9)
  const { logger, lines } = recordingLogger()
  memoryFor(least, logger)
  t.strictSame(lines, [])
  memoryFor(least - 1, logger)
  t.equal(lines.length, 1)
  t.end()
})
