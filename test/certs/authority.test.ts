import t from 'tap'
import type { AuthorityState, StoredAuthority } from '../../src/certs/authority.ts'
import { bundleOf, decideAuthority, isRenewalDue, leafProblem, replaceAuthority } from '../../src/certs/authority.ts'
import type { NamedTexts } from '../../src/certs/authority-data.ts'
import { readAuthority, writeAuthority } from '../../src/certs/authority-data.ts'
import { isSignedBy, pairProblem, readBundle, readCertificate } from '../../src/certs/certificate.ts'
import type { KeyPair } from '../../src/certs/issue.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import { fc } from '../support/property.ts'

const day = 86_400_000
const hour = 3_600_000
/**
 * A third of the validity period of a CA. The period is one year and one hour, because the validity begins an hour before the CA is issued.
 */
const third = (365 * day + hour) / 3
const start = Date.parse('2026-01-01T00:00:00Z')
const names = { names: ['localhost'], ips: ['127.0.0.1'] }

async function stateAt(now: number): Promise<AuthorityState> {
  return { current: await issueAuthority(now), previous: [] }
}

t.test('each stored state leads to a decision', async (t) => {
  const state = await stateAt(start)
  const { current } = state
  const [other, newer] = [await issueAuthority(start), await issueAuthority(start + 365 * day)]
  const leaf = await issueLeaf(current, { ...names, now: start })
  const urgent = (reason: string): object => ({ action: 'replace', urgent: true, reason })
  const cases: [string, StoredAuthority | undefined, number, object][] = [
    ['nothing stored', undefined, start, { action: 'create' }],
    ['an empty Secret', { current: {} }, start, { action: 'create' }],
    ['a valid authority', state, start, { action: 'keep', state }],
    ['a current authority alone', { current }, start, { action: 'keep', state }],
    ['an authority that becomes valid now', state, start - hour, { action: 'keep', state }],
    ['a third of its life left', state, start + 365 * day - third, { action: 'keep', state }],
    [
      'less than a third left',
      state,
      start + 365 * day - third + 1,
      { action: 'replace', urgent: false, reason: 'less than a third of its life is left (it expires on 2027-01-01T00:00:00.000Z)' },
    ],
    ['expired now', state, start + 365 * day, urgent('the certificate expired on 2027-01-01T00:00:00.000Z')],
    ['from the future', state, start - hour - 1, urgent('the certificate is not valid before 2025-12-31T23:00:00.000Z')],
    ['no key', { current: { cert: current.cert } }, start, urgent('the key is missing')],
    ['no certificate', { current: { key: current.key } }, start, urgent('the certificate is missing')],
    ['another key', { current: { ...current, key: other.key } }, start, urgent('the key does not belong to the certificate')],
    [
      'a damaged certificate',
      { current: { ...current, cert: 'x' } },
      start,
      urgent('the certificate cannot be read (there is no certificate in it)'),
    ],
    ['a leaf instead of an authority', { current: leaf }, start, urgent('the certificate is not that of an authority')],
    ['a next authority', { current, next: other }, start, { action: 'keep', state: { ...state, next: other } }],
    ['a next authority without its key', { current, next: { cert: other.cert } }, start, { action: 'keep', state }],
    ['a next authority without its certificate', { current, next: { key: other.key } }, start, { action: 'keep', state }],
    ['a next authority with another key', { current, next: { ...other, key: leaf.key } }, start, { action: 'keep', state }],
    ['a next authority that is not valid yet', { current, next: newer }, start, { action: 'keep', state }],
    [
      'previous authorities with a leaf, a duplicate and an expired one',
      { current, previous: [other.cert, leaf.cert, other.cert, (await issueAuthority(start - 365 * day)).cert] },
      start,
      { action: 'keep', state: { current, previous: [other.cert] } },
    ],
  ]
  for (const [name, stored, now, expected] of cases) t.strictSame(decideAuthority(stored, now), expected, name)
  t.match(decideAuthority({ current: { ...current, key: 'x' } }, start), {
    action: 'replace',
    urgent: true,
    reason: /^the key cannot be read \(.+\)$/,
  })
})

t.test('an authority is read as it was written', async (t) => {
  const [a, b, c] = [await issueAuthority(start), await issueAuthority(start), await issueAuthority(start)]
  const written = writeAuthority({ current: a, next: b, previous: [c.cert] }, start)
  t.strictSame(written, { 'ca.key': a.key, 'ca.crt': a.cert + b.cert + c.cert, 'ca-next.key': b.key, 'ca-next.crt': b.cert })
  t.strictSame(readAuthority(written), { current: a, next: b, previous: [c.cert] })
  t.strictSame(writeAuthority({ current: a, previous: [c.cert] }, start + 365 * day), {
    'ca.key': a.key,
    'ca.crt': a.cert,
    'ca-next.key': undefined,
    'ca-next.crt': undefined,
  })
  const cases: [string, NamedTexts, StoredAuthority][] = [
    ['nothing', {}, { current: {}, previous: [] }],
    ['empty texts', { 'ca.crt': '', 'ca.key': '' }, { current: {}, previous: [] }],
    ['a certificate alone', { 'ca.crt': a.cert }, { current: { cert: a.cert }, previous: [] }],
    ['a key alone', { 'ca.key': a.key }, { current: { key: a.key }, previous: [] }],
    ['a damaged certificate', { 'ca.crt': 'damaged', 'ca.key': a.key }, { current: { cert: 'damaged', key: a.key }, previous: [] }],
    ['a next authority without its key', { ...written, 'ca-next.key': undefined }, { current: a, previous: [c.cert] }],
    ['a next authority without its certificate', { ...written, 'ca-next.crt': undefined }, { current: a, previous: [b.cert, c.cert] }],
  ]
  for (const [name, texts, expected] of cases) t.strictSame(readAuthority(texts), expected, name)
})

t.test('the bundle has the current, the next and previous authorities until they expire', async (t) => {
  const [a, b, c] = [await issueAuthority(start), await issueAuthority(start + 200 * day), await issueAuthority(start + 300 * day)]
  const state = { current: b, next: c, previous: [a.cert] }
  t.equal(bundleOf(state, start + 365 * day - 1), b.cert + c.cert + a.cert)
  t.equal(bundleOf(state, start + 365 * day), b.cert + c.cert)
  t.equal(bundleOf({ current: b, previous: [b.cert, a.cert] }, start + 300 * day), b.cert + a.cert, 'without duplicates')
  t.strictSame(replaceAuthority([{ current: { cert: 'damaged' }, previous: [a.cert] }], b, start + 200 * day), {
    current: b,
    previous: [a.cert],
  })
  t.strictSame(replaceAuthority([{ current: a, next: b, previous: [] }], c, start + 300 * day), {
    current: c,
    previous: [a.cert, b.cert],
  })
  const fresh = await issueAuthority(start + 300 * day)
  t.strictSame(
    replaceAuthority([{ current: b, next: c, previous: [a.cert] }], fresh, start + 300 * day),
    { current: fresh, previous: [b.cert, c.cert, a.cert] },
    'the newest first',
  )
  t.strictSame(replaceAuthority([{ current: b, previous: [a.cert] }], c, start + 365 * day), { current: c, previous: [b.cert] })
  t.strictSame(replaceAuthority([undefined], c, start + 300 * day), { current: c, previous: [] })
})

t.test('the reason to replace a leaf is reported', async (t) => {
  const state = await stateAt(start)
  const leaf = await issueLeaf(state.current, { ...names, now: start })
  t.equal(leafProblem(leaf, state, names, start), undefined)
  t.equal(leafProblem(leaf, state, names, start + 7 * day), 'the certificate expired on 2026-01-08T00:00:00.000Z')
  t.equal(leafProblem(leaf, state, { names: ['localhost', 'x.svc'], ips: ['::1'] }, start), 'it is not for x.svc, ::1')
  t.equal(leafProblem(leaf, await stateAt(start), names, start), 'it is not signed by the current authority')
  t.equal(leafProblem({ ...leaf, key: state.current.key }, state, names, start), 'the key does not belong to the certificate')
  const nameless = await issueLeaf(state.current, { names: [], ips: names.ips, now: start })
  t.equal(
    leafProblem(nameless, state, { names: ['proreus-webhook'], ips: [] }, start),
    'it is not for proreus-webhook',
    'its subject is no name',
  )
  const wild = { names: ['*.example.com'], ips: [] }
  t.equal(leafProblem(await issueLeaf(state.current, { ...wild, now: start }), state, wild, start), undefined, 'a wildcard covers itself')
  const leafThird = (7 * day + hour) / 3
  t.equal(isRenewalDue(leaf, start + 7 * day - leafThird - 1), false)
  t.equal(isRenewalDue(leaf, start + 7 * day - leafThird), true)
})

t.test('over simulated years with damaged stores, the served certificate is always trusted', async (t) => {
  type Damage = 'none' | 'key lost' | 'certificate damaged' | 'all lost'
  const round = fc.record({
    days: fc.double({ min: 0.001, max: 40, noNaN: true }),
    damage: fc.constantFrom<Damage[]>(
      'none',
      'none',
      'none',
      'none',
      'none',
      'none',
      'none',
      'key lost',
      'certificate damaged',
      'all lost',
    ),
  })
  const property = fc.asyncProperty(
    fc.integer({ min: 0, max: 24 * 365 }),
    fc.array(round, { minLength: 30, maxLength: 60 }),
    async (offset, rounds) => {
      let now = start + offset * day
      let stored: StoredAuthority | undefined
      let leaf: KeyPair | undefined
      for (const { days, damage } of rounds) {
        const decision = decideAuthority(stored, now)
        const state: AuthorityState =
          decision.action === 'keep' ? decision.state : replaceAuthority([stored], await issueAuthority(now), now)
        const served = leaf
        if (leaf === undefined || leafProblem(leaf, state, names, now) !== undefined || isRenewalDue(leaf, now))
          leaf = await issueLeaf(state.current, { ...names, now })
        const bundle = readBundle(bundleOf(state, now))
        if (pairProblem(leaf.cert, leaf.key, now) !== undefined) throw new Error('serves a pair that cannot be used')
        if (!isSignedBy(readCertificate(leaf.cert), bundle)) throw new Error('the bundle does not trust the leaf')
        if (bundle.some(({ notAfter }) => notAfter <= now)) throw new Error('the bundle has an expired certificate')
        // Another replica may still serve the previous leaf. The new bundle must therefore trust the previous leaf until the leaf expires.
        // If the certificate of the previous CA was lost or damaged, the new bundle cannot contain this CA. In this case, the test does not
        // check whether the new bundle trusts the previous leaf.
        const lost = stored === undefined || (stored.current?.cert ?? '') === '' || stored.current?.cert === 'damaged'
        if (
          served !== undefined &&
          !lost &&
          pairProblem(served.cert, served.key, now) === undefined &&
          !isSignedBy(readCertificate(served.cert), bundle)
        ) {
          throw new Error('the bundle does not trust the leaf before')
        }
        if (decideAuthority(state, now).action !== 'keep') throw new Error('a new authority is replaced at once')
        stored = damaged(state, damage)
        now += days * day
      }
    },
  )
  await t.resolves(fc.assert(property, { numRuns: 25 }))

  function damaged(state: AuthorityState, damage: Damage): StoredAuthority | undefined {
    switch (damage) {
      case 'none':
        return state
      case 'key lost':
        return { ...state, current: { cert: state.current.cert } }
      case 'certificate damaged':
        return { ...state, current: { ...state.current, cert: 'damaged' } }
      case 'all lost':
        return undefined
    }
  }
})
