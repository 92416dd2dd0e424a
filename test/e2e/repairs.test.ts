/** Tests that damaged or outdated files are replaced at startup, with one warning for each. */
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { startDevCluster } from '../../src/testing/index.ts'
import { oldCertificates } from '../support/certs/old-certificates.ts'
import { freePort } from '../support/process/free-port.ts'
import { logLines, startOperator } from '../support/process/operator.ts'
import { proreus, startProreus } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'

const warningsOf = (output: string): unknown[] => logLines(output).flatMap(({ level, msg }) => (level === 'warn' ? [msg] : []))

t.test('unusable certificates are replaced', async (t) => {
  const cluster = await startDevCluster({ port: 0, logger: silentLogger() })
  t.teardown(() => cluster.close())
  const cases: [string, number, Record<string, string>, RegExp][] = [
    ['the certificate has expired', 30, {}, /^replaced certs\/tls\.crt: the certificate expired on /],
    ['the authority has expired', 400, {}, /^replaced the certificate authority in certs: the certificate expired on /],
    [
      'the key of the authority is garbage',
      0,
      { 'ca.key': 'garbage' },
      /^replaced the certificate authority in certs: the key cannot be read/,
    ],
    ['the certificate is garbage', 0, { 'tls.crt': 'garbage' }, /^replaced certs\/tls\.crt: /],
  ]
  for (const [name, days, damage, warning] of cases) {
    await t.test(name, async (t) => {
      const certs = { ...(await oldCertificates({ days })), ...damage }
      const directory = t.testdir({ kubeconfig: cluster.kubeconfigYaml(), certs })
      for (const file of ['ca.key', 'tls.key']) chmodSync(join(directory, 'certs', file), 0o600)
      const options = { directory, kubeconfig: join(directory, 'kubeconfig'), args: ['--drain-delay', '0s'] }
      const { running, probesUrl } = await startOperator(t, options, await freePort())
      await until('it is ready', async () => (await fetch(`${probesUrl}/readyz`)).ok)
      t.match(await proreus(['certs', 'verify', '--ip', '127.0.0.1'], { cwd: directory }), { code: 0, stderr: '' })
      t.equal(await running.stop(), 0)
      t.match(warningsOf(running.output()), [warning])
      t.equal(warningsOf(running.output()).length, 1)
    })
  }
})

t.test('a damaged state file is replaced', async (t) => {
  const directory = t.testdir({ '.proreus': { 'state.json': 'garbage', kubeconfig: 'old' } })
  chmodSync(join(directory, '.proreus/state.json'), 0o600)
  const running = startProreus(['dev', '--operators', 'none', '--port', '0'], { cwd: directory })
  t.teardown(() => running.stop('SIGKILL'))
  await until('it is ready', () => logLines(running.output()).some(({ msg }) => msg === 'ready'))
  t.match(readFileSync(join(directory, '.proreus/kubeconfig'), 'utf8'), /^apiVersion: v1\nkind: Config\n/)
  t.equal(await running.stop(), 0)
  t.notOk(existsSync(join(directory, '.proreus/kubeconfig')), 'the old kubeconfig is removed')
  t.notOk(existsSync(join(directory, '.proreus/dev.pid')))
  t.strictSame(warningsOf(running.output()), [
    '.proreus/state.json is replaced because it is not valid JSON: clients need the new kubeconfig.',
  ])
  t.match(JSON.parse(readFileSync(join(directory, '.proreus/state.json'), 'utf8')), {
    authority: { cert: String, key: String },
    token: String,
  })
})
