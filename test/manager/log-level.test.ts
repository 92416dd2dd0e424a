import t from 'tap'
import { logLevels, setLogLevel, toggleDebugOnSignal } from '../../src/manager/log-level.ts'
import { recordingLogger } from '../support/recording-logger.ts'

t.test('child loggers follow a change of the level, unless they have a level of their own', (t) => {
  const { logger, lines } = recordingLogger()
  const child = logger.child({ controller: 'a' })
  const grandchild = child.child({ name: 'b' }, { msgPrefix: 'c: ' })
  const own = logger.child({}, { level: 'error' })
  setLogLevel(logger, 'debug')
  for (const each of [child, grandchild, own]) each.debug('now')
  t.equal(grandchild.isLevelEnabled('debug'), true)
  setLogLevel(logger, 'warn')
  for (const each of [child, grandchild, own]) each.info('not any more')
  setLogLevel(logger, 'warn')
  t.strictSame(lines, [
    'warn: the log level is debug now; it was info',
    'debug: now',
    'debug: c: now',
    'warn: the log level is warn now; it was debug',
  ])
  t.end()
})

t.test('each change of the level is logged, also when the new level drops the line', (t) => {
  for (const level of ['error', 'fatal', 'silent']) {
    const { logger, lines } = recordingLogger()
    setLogLevel(logger, level)
    t.strictSame(lines, [`warn: the log level is ${level} now; it was info`])
    setLogLevel(logger, 'info')
    t.equal(lines[1], `warn: the log level is info now; it was ${level}`)
  }
  t.end()
})

t.test('an unknown level is refused', (t) => {
  const { logger, lines } = recordingLogger()
  for (const level of ['', 'loud', '__proto__', 'x'.repeat(1000)])
    t.throws(() => setLogLevel(logger, level), {
      code: 'PRO_INPUT',
      message: /must be one of trace, debug, info, warn, error, fatal, silent/,
    })
  t.equal(logger.level, 'info')
  t.strictSame(lines, [])
  for (const level of logLevels) setLogLevel(logger, level)
  t.equal(logger.level, 'silent')
  t.end()
})

t.test('SIGUSR2 switches debug on and off', (t) => {
  const { logger } = recordingLogger('warn')
  const listeners = process.listenerCount('SIGUSR2')
  const remove = toggleDebugOnSignal(logger)
  const levels = [1, 2, 3].map(() => {
    process.emit('SIGUSR2', 'SIGUSR2')
    return logger.level
  })
  t.strictSame(levels, ['debug', 'warn', 'debug'])
  setLogLevel(logger, 'error')
  process.emit('SIGUSR2', 'SIGUSR2')
  process.emit('SIGUSR2', 'SIGUSR2')
  t.equal(logger.level, 'error', 'the level at the time of the first signal')
  setLogLevel(logger, 'warn')
  setLogLevel(logger, 'debug')
  logger.child({}, { level: 'error' }).level = 'debug'
  process.emit('SIGUSR2', 'SIGUSR2')
  t.equal(logger.level, 'warn', 'the level before debug, although no signal set debug')
  remove()
  t.equal(process.listenerCount('SIGUSR2'), listeners)
  const verbose = recordingLogger('debug').logger
  const removeOther = toggleDebugOnSignal(verbose)
  process.emit('SIGUSR2', 'SIGUSR2')
  t.equal(verbose.level, 'info', 'a process that was started with debug')
  removeOther()
  t.end()
})
