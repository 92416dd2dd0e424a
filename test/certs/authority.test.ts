import t from 'tap'
import type { AuthorityState, StoredAuthority } from '../../src/certs/authority.ts'
import { bundleOf, decideAuthority, isRenewalDue, leafProblem, replaceAuthority } from '../../src/certs/authority.ts'
import { isSignedBy, pairProblem, readBundle, readCertificate } from '../../src/certs/certificate.ts'
import type { KeyPair } from '../../src/certs/issue.ts'
import { issueAuthority, issueLeaf } from '../../src/certs/issue.ts'
import { fc } from '../support/property.ts'

const day = 86_400_000
const start = Date.parse('2026-01-01T00:00:00Z')
const names = { names: ['localhost'], ips: ['127.0.0.1'] }

async function stateAt(now: number): Promise<AuthorityState> {
  return { current: await issueAuthority(now), previous: [] }
}

t.test('decides what is to be done', async (t) => {
  const state = await stateAt(start)
  const other = await issueAuthority(start)
  const leaf = await issueLeaf(state.current, { ...names, now: start })
  const cases: [string, StoredAuthority | undefined, number, object][] = [
    ['nothing stored', undefined, start, { action: 'create' }],
    ['an empty Secret', { current: {} }, start, { action: 'create' }],
    ['a good one', state, start, { action: 'keep', state }],
    ['two thirds of its life', state, start + 243 * day, { action: 'keep' }],
    ['less than a third left', state, start + 244 * day, { action: 'replace', urgent: false, reason: /less than a third/ }],
    ['expired', state, start + 366 * day, { action: 'replace', urgent: true, reason: /expired on 2027-01-01/ }],
    ['from the future', state, start - day, { action: 'replace', urgent: true, reason: /not valid before/ }],
    ['no key', { current: { cert: state.current.cert } }, start, { action: 'replace', urgent: true, reason: /key is missing/ }],
    [
      'no certificate',
      { current: { key: state.current.key } },
      start,
      { action: 'replace', urgent: true, reason: /certificate is missing/ },
    ],
    [
      'another key',
      { current: { ...state.current, key: other.key } },
      start,
      { action: 'replace', urgent: true, reason: /does not belong/ },
    ],
    [
      'a damaged certificate',
      { current: { ...state.current, cert: 'x' } },
      start,
      { action: 'replace', urgent: true, reason: /cannot be read/ },
    ],
    [
      'a damaged key',
      { current: { ...state.current, key: 'x' } },
      start,
      { action: 'replace', urgent: true, reason: /key cannot be read/ },
    ],
    ['a leaf in its place', { current: leaf }, start, { action: 'replace', urgent: true, reason: /not that of an authority/ }],
  ]
  for (const [name, stored, now, expected] of cases) t.match(decideAuthority(stored, now), expected, name)
})

t.test('publishes what it signs with, what comes next and what came before, until it expires', async (t) => {
  const [a, b, c] = [await issueAuthority(start), await issueAuthority(start + 200 * day), await issueAuthority(start + 300 * day)]
  const state = { current: b, next: c, previous: [a.cert] }
  t.equal(bundleOf(state, start + 300 * day), b.cert + c.cert + a.cert)
  t.equal(bundleOf(state, start + 366 * day), b.cert + c.cert)
  t.strictSame(replaceAuthority({ current: { cert: 'damaged' }, previous: [a.cert] }, b, start + 200 * day), {
    current: b,
    previous: [a.cert],
  })
  t.strictSame(replaceAuthority({ current: a, next: b, previous: [] }, c, start + 300 * day), {
    current: c,
    previous: [a.cert, b.cert],
  })
})

t.test('says why a leaf has to be replaced', async (t) => {
  const state = await stateAt(start)
  const leaf = await issueLeaf(state.current, { ...names, now: start })
  t.equal(leafProblem(leaf, state, names, start), undefined)
  t.match(leafProblem(leaf, state, names, start + 7 * day), /expired/)
  t.match(leafProblem(leaf, state, { names: ['localhost', 'x.svc'], ips: ['::1'] }, start), /not for x\.svc, ::1/)
  t.match(leafProblem(leaf, await stateAt(start), names, start), /not signed by the current/)
  t.match(leafProblem({ ...leaf, key: state.current.key }, state, names, start), /does not belong/)
  const nameless = await issueLeaf(state.current, { names: [], ips: names.ips, now: start })
  t.match(leafProblem(nameless, state, { names: ['proreus-webhook'], ips: [] }, start), /not for proreus-webhook/, 'its subject is no name')
  const wild = { names: ['*.example.com'], ips: [] }
  t.equal(leafProblem(await issueLeaf(state.current, { ...wild, now: start }), state, wild, start), undefined, 'a wildcard is for itself')
  t.notOk(isRenewalDue(leaf, start + 4.6 * day))
  t.ok(isRenewalDue(leaf, start + 4.7 * day))
})

t.test('over simulated years, whatever happens, what is served is trusted', async (t) => {
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
        const state: AuthorityState = decision.action === 'keep' ? decision.state : replaceAuthority(stored, await issueAuthority(now), now)
        const served = leaf
        if (leaf === undefined || leafProblem(leaf, state, names, now) !== undefined || isRenewalDue(leaf, now))
          leaf = await issueLeaf(state.current, { ...names, now })
        const bundle = readBundle(bundleOf(state, now))
        if (pairProblem(leaf.cert, leaf.key, now) !== undefined) throw new Error('serves a pair that cannot be used')
        if (!isSignedBy(readCertificate(leaf.cert), bundle)) throw new Error('the bundle does not trust the leaf')
        if (bundle.some(({ notAfter }) => notAfter <= now)) throw new Error('the bundle has an expired certificate')
        // A replica that has not renewed yet still serves the leaf before this one.
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
