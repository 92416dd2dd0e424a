/** Tests the probes of a container. The probes send HTTP requests to a real server. */
import { createServer } from 'node:http'
import t from 'tap'
import { ProcessProbes } from '../../../../src/devcluster/pods/probes/process-probes.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { listen, loopbackTarget } from '../../../support/devcluster/loopback-target.ts'
import { eventually } from '../../../support/eventually.ts'

t.test('a server becomes ready, moves, and is killed when it hangs', async (t) => {
  let answer: 'starting' | 'ready' | 'moved' | 'none' = 'starting'
  const listening = await listen(
    t,
    createServer((_request, response) => {
      if (answer === 'none') return
      const status = { starting: 503, ready: 200, moved: 302 }[answer]
      response.writeHead(status, { Location: 'http://other.example/' })
      response.end()
    }),
  )
  const clock = new FakeClock()
  const log: string[] = []
  let wakes = 0
  const httpGet = { port: 'web' }
  const probes = new ProcessProbes({
    container: {
      name: 'main',
      ports: [{ name: 'web', containerPort: listening.port }],
      readinessProbe: { httpGet, periodSeconds: 1 },
      livenessProbe: { httpGet, initialDelaySeconds: 3, timeoutSeconds: 2, failureThreshold: 1 },
    },
    target: loopbackTarget,
    clock,
    startedAt: clock.now(),
    now: clock.now(),
    wake: () => void (wakes += 1),
    onFailure: (kind, output) => log.push(`${kind}: ${output.replace(String(listening.port), 'PORT')}`),
    record: ({ reason, message }) => log.push(`${reason}: ${message}`),
  })
  /** Advances the clock, waits until a run of a probe has ended, and applies the result of the run. */
  const nextRun = async (ms: number): Promise<ReturnType<typeof probes.step>> => {
    const before = wakes
    await clock.advance(ms)
    await eventually(() => wakes > before)
    return probes.step(clock.now())
  }
  await nextRun(0)
  t.equal(probes.isReady, false)
  answer = 'ready'
  await nextRun(1000)
  t.equal(probes.isReady, true)
  answer = 'moved'
  await nextRun(1000)
  t.equal(probes.isReady, true)
  t.strictSame(log.splice(0), [
    'readiness: HTTP probe failed with statuscode: 503',
    'ProbeWarning: Readiness probe warning: Probe terminated redirects, Response body: ',
  ])
  answer = 'none'
  await clock.advance(1000)
  await eventually(() => listening.connections === 2)
  await clock.advance(2000)
  await eventually(() => probes.step(clock.now()) === 'liveness')
  t.equal(probes.isReady, true, 'the failures of the readiness probe are below its threshold')
  const late = 'Get "http://127.0.0.1:PORT/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
  t.strictSame(
    log.filter((line) => line.startsWith('liveness')),
    [`liveness: ${late}`],
  )
  probes.end()
  await eventually(() => listening.connections === 0)
  t.equal(clock.pending, 0)
})
