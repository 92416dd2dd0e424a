import t from 'tap'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import { refreshingSource, servingCertificate } from '../../src/certs/serving-certificate.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { recordingLogger } from '../support/certs-recording-logger.ts'

t.test('two checks at once issue one leaf', async (t) => {
  const clock = new FakeClock()
  const authority = await issueAuthority(clock.now())
  const issue = async (): Promise<ReturnType<typeof servingCertificate>> => {
    const leaf = await issueLeaf(authority, { names: ['localhost'], ips: [], now: clock.now() })
    return servingCertificate({ ...leaf, caBundle: authority.cert }, undefined)
  }
  const initial = await issue()
  let issued = 0
  const source = refreshingSource(
    initial,
    async (current) => {
      if (current !== initial) return current
      issued += 1
      return issue()
    },
    { clock, logger: recordingLogger().logger },
  )
  const changes: string[] = []
  source.onChange(({ cert }) => changes.push(cert))
  await Promise.all([source.refresh(), source.refresh()])
  t.equal(issued, 1)
  t.strictSame(changes, [source.current().cert])
})

t.test('a check that failed does not keep the next from looking', async (t) => {
  const clock = new FakeClock()
  const authority = await issueAuthority(clock.now())
  const leaf = await issueLeaf(authority, { names: ['localhost'], ips: [], now: clock.now() })
  const initial = servingCertificate({ ...leaf, caBundle: authority.cert }, undefined)
  const answers = [() => Promise.reject(new Error('the store is away')), () => Promise.resolve({ ...initial, caBundle: 'new' })]
  const source = refreshingSource(initial, () => answers.shift()!(), { clock, logger: recordingLogger().logger })
  const [first, second] = await Promise.allSettled([source.refresh(), source.refresh()])
  t.equal(first.status, 'rejected')
  t.equal(second.status, 'fulfilled')
  t.equal(source.current().caBundle, 'new')
})

t.test('a problem is said once for as long as it lasts, and again when it comes back', async (t) => {
  const clock = new FakeClock()
  const { logger, lines } = recordingLogger()
  const authority = await issueAuthority(clock.now())
  const leaf = await issueLeaf(authority, { names: ['localhost'], ips: [], now: clock.now() })
  let isAway = true
  const source = refreshingSource(
    servingCertificate({ ...leaf, caBundle: authority.cert }, undefined),
    async (current) => (isAway ? Promise.reject(new Error('the store is away')) : current),
    { clock, logger },
  )
  const stop = new AbortController()
  const running = source.start(stop.signal)
  for (const away of [true, true, false, true, true]) {
    isAway = away
    await clock.advance(60_000)
  }
  stop.abort()
  await running
  const said = `warn: serving the certificate that is valid until ${source.current().notAfter.toISOString()}: the store is away`
  t.strictSame(lines, [said, said])
})
