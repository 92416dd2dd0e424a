/** Tests of the times at which CertificateSigningRequests are deleted, on a fake clock. */
import t from 'tap'
import { certificates } from '../../../../src/api/kubernetes/certificates.ts'
import { Cache } from '../../../../src/cache/cache.ts'
import { runController } from '../../../../src/controller/run-controller.ts'
import { issueAuthority } from '../../../../src/certs/issue.ts'
import { cleanerController } from '../../../../src/devcluster/controllers/certificates/cleaner.ts'
import type { EventRecorder } from '../../../../src/telemetry/event-recorder.ts'
import { silentLogger } from '../../../../src/telemetry/logger.ts'
import { Metrics } from '../../../../src/telemetry/metrics.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { until } from '../../../../src/testing/until.ts'
import { certificateRequests, requestField } from '../../../support/certs/certificate-requests.ts'
import { inProcessClient } from '../../../support/devcluster/in-process-client.ts'
import { fixture } from '../../../support/devcluster/registry.ts'

const hour = 3_600_000
const type = certificates.certificateSigningRequest

t.test('old requests are deleted by their state', async (t) => {
  const clock = new FakeClock('2026-01-01T00:00:00Z')
  const client = inProcessClient(await fixture({ clock }))
  const logger = silentLogger()
  const cache = new Cache(client, { logger, clock: new FakeClock() })
  const events: EventRecorder = { event: () => undefined }
  const stop = new AbortController()
  const environment = { client, cache, logger, metrics: new Metrics(), clock, events, graceMs: 0 }
  const running = [runController(cleanerController(), environment, stop.signal), cache.start(stop.signal)]
  t.teardown(() => {
    stop.abort()
    return Promise.allSettled(running)
  })
  const spec = { request: requestField(certificateRequests.jane), signerName: 'example.com/signer', usages: ['client auth'] }
  const decided = (condition: string): object => ({ status: { conditions: [{ type: condition, status: 'True' }] } })
  for (const name of ['pending', 'denied', 'failed', 'approved', 'issued']) await client.create(type, { metadata: { name }, spec })
  const write = (name: string, patch: object, subresource: 'approval' | 'status'): Promise<unknown> =>
    client.patch(type, { name }, patch, { subresource })
  await write('denied', decided('Denied'), 'approval')
  await write('failed', decided('Failed'), 'status')
  await write('approved', decided('Approved'), 'approval')
  await write('issued', decided('Approved'), 'approval')
  const { cert } = await issueAuthority(clock.now())
  await write('issued', { status: { certificate: requestField(cert) } }, 'status')

  const names = async (): Promise<string[]> => (await client.list(type)).items.map(({ metadata }) => metadata.name)
  await clock.advance(hour - 1000)
  t.strictSame(await names(), ['approved', 'denied', 'failed', 'issued', 'pending'])
  await clock.advance(2000)
  await until('settled requests are deleted', async () => (await names()).length === 2)
  t.strictSame(await names(), ['approved', 'pending'])
  await clock.advance(23 * hour - 2000)
  t.strictSame(await names(), ['approved', 'pending'])
  await clock.advance(2000)
  await t.resolves(until('pending requests are deleted', async () => (await names()).length === 0))
})
