import t from 'tap'
import { warningLog } from '../../src/manager/api-warnings.ts'
import { createLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

function setUp(): { clock: FakeClock; warn: (text: string) => void; count: (level: string) => number } {
  const clock = new FakeClock()
  const levels: string[] = []
  const destination = { write: (line: string) => void levels.push((JSON.parse(line) as { level: string }).level) }
  const warn = warningLog(createLogger({ level: 'debug', destination }), clock)
  return { clock, warn, count: (level) => levels.filter((each) => each === level).length }
}

t.test('each warning is said once an hour, and at debug level in between', async (t) => {
  const { clock, warn, count } = setUp()
  for (let minute = 0; minute < 60; minute += 1) {
    warn('v1 is deprecated')
    warn('unknown field "spec.a"')
    clock.set(clock.now() + 60_000)
  }
  t.equal(count('warn'), 2)
  t.equal(count('debug'), 118)
  warn('v1 is deprecated')
  t.equal(count('warn'), 3)
})

t.test('a warning that is said again is not the oldest any more', async (t) => {
  const { clock, warn, count } = setUp()
  warn('first')
  warn('second')
  clock.set(clock.now() + 3_600_000)
  warn('first')
  for (let name = 0; name < 255; name += 1) warn(`unknown field "spec.${name}"`)
  t.equal(count('warn'), 258)
  warn('first')
  t.equal(count('debug'), 1, 'it is still remembered')
})

t.test('what is remembered is bounded: the oldest is forgotten', async (t) => {
  const { warn, count } = setUp()
  for (let name = 0; name < 257; name += 1) warn(`unknown field "spec.${name}"`)
  warn('unknown field "spec.256"')
  warn('unknown field "spec.1"')
  t.equal(count('warn'), 257)
  warn('unknown field "spec.0"')
  t.equal(count('warn'), 258)
})
