import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { openMemoryCertificates } from '../../src/certs/memory-store.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'

t.test('a certificate in memory is for its names, and is renewed before it expires', async (t) => {
  const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'))
  const source = await openMemoryCertificates({ names: ['a.example.com'], ips: ['127.0.0.1'], clock, logger: silentLogger() })
  const first = source.current()
  const leaf = new X509Certificate(first.cert)
  t.ok(leaf.checkHost('a.example.com'))
  t.ok(leaf.checkIP('127.0.0.1'))
  t.ok(leaf.verify(new X509Certificate(first.caBundle).publicKey))
  await source.refresh()
  t.equal(source.current(), first)
  await clock.advance(first.notAfter.getTime() - clock.now() - 1)
  await source.refresh()
  t.ok(source.current().notAfter > first.notAfter)
})
