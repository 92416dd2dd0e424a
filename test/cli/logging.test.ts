/** Tests of the log lines of a command with different flags. The standard error of the process is not a terminal. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { LogOptions } from '../../src/cli/logging.ts'
import { finished, repository } from '../support/process/process.ts'

async function logged(t: Test, options: LogOptions): Promise<string> {
  const source = `import { loggerOf } from '${join(repository, 'src/cli/logging.ts')}'
const logger = loggerOf(${JSON.stringify(options)})
logger.debug('quiet')
logger.info({ port: 1 }, 'loud')`
  const { stdout, stderr } = await finished(process.execPath, ['--input-type=module', '-e', source])
  t.equal(stdout, '', 'standard output is reserved for the command')
  return stderr
}

t.test('logs are JSON without a terminal, or pretty if requested', async (t) => {
  const json = /^\{"level":"info","time":"[^"]+","port":1,"msg":"loud"\}\n$/
  t.match(await logged(t, { logLevel: 'info', logFormat: 'auto' }), json)
  t.match(await logged(t, { logLevel: 'info', logFormat: 'json' }), json)
  t.match(await logged(t, { logLevel: 'info', logFormat: 'pretty' }), /^\[[\d:.]+\] INFO: loud \{"port":1\}\n$/)
})

t.test('the level filters the logs', async (t) => {
  t.match(await logged(t, { logLevel: 'debug', logFormat: 'json' }), /"msg":"quiet"\}\n\{.*"msg":"loud"/)
  t.equal(await logged(t, { logLevel: 'silent', logFormat: 'json' }), '')
})

t.test('on a terminal logs are pretty, in colours if supported', async (t) => {
  const shown = async (hasColors: boolean, logFormat: string, muted = ''): Promise<string> => {
    const source = `import { loggerOf } from '${join(repository, 'src/cli/logging.ts')}'
Object.assign(process.stderr, { isTTY: true, hasColors: () => ${hasColors} })
loggerOf({ logLevel: 'info', logFormat: '${logFormat}' }${muted}).info({ port: 1 }, 'loud')`
    return (await finished(process.execPath, ['--input-type=module', '-e', source])).stderr
  }
  t.match(await shown(false, 'auto'), /^\[[\d:.]+\] INFO: loud \{"port":1\}\n$/)
  t.match(await shown(true, 'auto'), /\x1b\[32mINFO/)
  t.match(await shown(true, 'json'), /^\{"level":"info"/)
  t.equal(await shown(false, 'auto', ', () => true'), '', 'nor while progress is shown')
})
