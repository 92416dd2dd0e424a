/** Tests of `proreus dev --watch`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { validatingWebhookConfiguration } from '../../../src/api/builtin.ts'
import { core } from '../../../src/api/kubernetes/core.ts'
import { until } from '../../../src/testing/until.ts'
import { createWord, isRunning, saidWith, untilSaid, watchedDev } from '../../support/process/watched-dev.ts'

const restarted = 'the operators were restarted'
const stopped = 'the operators do not run'

t.test('a change restarts the operators alone: objects, watches, addresses and certificates stay', async (t) => {
  const dev = watchedDev(t)
  await dev.untilOutput('"msg":"watching')
  t.match(dev.running.output(), /"msg":"watching \d+ files: a change restarts the operators, and nothing else"/)
  const client = await dev.client()
  const created = await createWord(client, 'one', 'hi')
  await untilSaid(client, 'one', 'hi!')
  const watched: string[] = []
  const stop = new AbortController()
  const watching = (async () => {
    for await (const event of client.watch(core.configMap, { namespace: 'default', signal: stop.signal }))
      if (event.type === 'MODIFIED') watched.push(event.object.metadata.annotations?.['said'] ?? '')
  })()
  const kept = async () => ({
    kubeconfig: readFileSync(join(dev.folder, '.proreus/kubeconfig'), 'utf8'),
    certificate: readFileSync(join(dev.folder, 'certs/tls.crt'), 'utf8'),
    configurations: (await client.list(validatingWebhookConfiguration)).items,
  })
  const before = { ...(await kept()), pid: dev.operatorsPid() }

  dev.save('said.ts', saidWith('?'))
  t.equal((await untilSaid(client, 'one', 'hi?')).metadata.uid, created.metadata.uid)
  await dev.untilOutput(restarted)
  t.match(dev.running.output(), /"msg":"\.\/said\.ts changed: the operators were restarted in \d+\.\d\d s"/)
  t.strictSame({ ...(await kept()), pid: before.pid }, before)
  const replaced = dev.operatorsPid()
  t.not(replaced, before.pid)
  t.notOk(isRunning(before.pid))
  await until('the watch from before the restart has the event', () => watched.includes('hi?'))

  // The first save replaces the process. The burst of saves comes while the new process starts.
  dev.save('said.ts', saidWith('x'))
  await until('the process is replaced', () => !isRunning(replaced))
  const burst = ['a', 'b', 'c', 'd'].flatMap((suffix) => [saidWith(suffix), `${saidWith(suffix)}// ${suffix}\n`])
  for (const content of burst) dev.save('said.ts', content)
  await untilSaid(client, 'one', 'hid')
  await dev.untilOutput(restarted, 2)
  await createWord(client, 'two', 'ho')
  await untilSaid(client, 'two', 'hod')
  t.equal(dev.count(restarted), 2, 'saves in quick succession are one restart')
  stop.abort()
  await t.rejects(watching)

  const last = dev.operatorsPid()
  t.equal(await dev.running.stop('SIGINT'), 0)
  t.notOk(isRunning(last))
  t.equal(dev.count(stopped), 0)
})

t.test('a broken start is printed, webhooks fail at once meanwhile, and the next save starts the operators', async (t) => {
  const dev = watchedDev(t, { 'said.ts': "export { said } from './missing.ts'\n" })
  await dev.untilOutput(stopped)
  t.match(dev.running.output(), /^proreus: The operator \.\/operator\.ts cannot be loaded: Cannot find module .*missing\.ts/m)
  t.match(dev.running.output(), /"level":"error",.*"msg":"the operators do not run \(exit code 1\); the next change starts them again"/)
  dev.save('missing.ts', saidWith('!'))
  await dev.untilOutput('"ready"')
  const client = await dev.client()
  await createWord(client, 'one', 'hi')
  await untilSaid(client, 'one', 'hi!')
  await t.rejects(createWord(client, 'bad', 'bye'), /must greet/)

  dev.save('missing.ts', 'export const said = (')
  await dev.untilOutput(stopped, 2)
  t.match(dev.running.output(), /^proreus: .*Expression expected \(\.\/missing\.ts:1\)\.$/m)
  t.match(dev.running.output(), /"msg":"\.\/missing\.ts changed: the operators do not run \(exit code 1\)/)
  const since = performance.now()
  await t.rejects(
    createWord(client, 'two', 'hi'),
    /failed calling webhook .*: the operators do not run \(exit code 1\): see the output of proreus dev; the next change starts them again/,
  )
  t.ok(performance.now() - since < 5_000, 'the timeout of the webhook does not have to pass')

  // Saving the file starts the operators again. Before this restart has begun, each `createWord` fails, and the test repeats the call.
  // After the restart has begun, `createWord` waits until the operators serve the webhook.
  dev.save('missing.ts', `${saidWith('?')}await new Promise((resolve) => setTimeout(resolve, 500))\n`)
  await until('the webhooks are about to be served', () =>
    createWord(client, 'three', 'hi').catch((error: unknown) =>
      /the operators do not run/.test(String(error)) ? undefined : Promise.reject(error as Error),
    ),
  )
  t.equal(dev.count(restarted), 0, 'the request has waited for the operators')
  await untilSaid(client, 'three', 'hi?')
  await dev.untilOutput(restarted)
})

t.test('messages of an operator on the channel to the parent process are ignored, and reported once', async (t) => {
  const messages = [
    ...[null, 'ready', {}, { type: 'loading' }, { type: 'loading', file: { path: 1, state: '' } }, { type: 'done', step: 'x' }],
    ...[
      { type: 'serving', webhook: 99_999 },
      { type: 'serving', metrics: '1' },
      { type: 'ready' },
      { type: 'ready', next: { resource: 1 } },
    ],
    { type: 'loading', file: { path: `/\0${'x'.repeat(5000)}`, state: 'missing' } },
  ]
  const sends = `for (const message of ${JSON.stringify(messages)}) process.send?.(message)\n`
  const dev = watchedDev(t, { 'said.ts': sends + saidWith('!') })
  await dev.untilOutput('"msg":"watching')
  t.equal(dev.count('messages that operators send with process.send are ignored'), 1)
  const client = await dev.client()
  await createWord(client, 'one', 'hi')
  await untilSaid(client, 'one', 'hi!')
  dev.save('said.ts', sends + saidWith('?'))
  await dev.untilOutput(restarted)
  await untilSaid(client, 'one', 'hi?')
  t.equal(dev.count('messages that operators send with process.send are ignored'), 1)
})

t.test('a process that still loads its modules is stopped without being killed', async (t) => {
  const endless =
    "console.log('loading')\nprocess.on('exit', () => console.log('left'))\nawait new Promise(() => setInterval(() => undefined, 1000))\n"
  const dev = watchedDev(t, { 'said.ts': `${endless}${saidWith('!')}` })
  await dev.untilOutput('loading')
  dev.save('said.ts', saidWith('!'))
  await dev.untilOutput('"ready"')
  t.equal(dev.count('left'), 1)
  t.equal(dev.count(stopped), 0)
})

t.test('operators that end by themselves are started by the next save; those that do not stop are killed', async (t) => {
  const dev = watchedDev(t, { 'said.ts': 'export const said = (): string => process.exit(7)\n' })
  await dev.untilOutput('"ready"')
  const client = await dev.client()
  await createWord(client, 'one', 'hi')
  await dev.untilOutput('the operators do not run (exit code 7)')
  dev.save('said.ts', "export const said = (): string => { console.log('blocked'); for (;;); }\n")
  await dev.untilOutput('blocked')
  const blocked = dev.operatorsPid()
  dev.save('said.ts', saidWith('!'))
  await untilSaid(client, 'one', 'hi!')
  t.notOk(isRunning(blocked))
  t.equal(dev.count(stopped), 1, 'the killed process is not reported')
})

t.test('operators end with the parent process, even if it is killed while they are blocked', async (t) => {
  const dev = watchedDev(t, { 'said.ts': "export const said = (): string => { console.log('blocked'); for (;;); }\n" })
  await dev.untilOutput('"ready"')
  await createWord(await dev.client(), 'one', 'hi')
  await dev.untilOutput('blocked')
  t.ok(isRunning(dev.operatorsPid()))
  dev.running.child.kill('SIGKILL')
  await until('the operators have ended', () => !isRunning(dev.operatorsPid()))
})
