import t from 'tap'
import type { IssuedToken, TokenRequest } from '../../../../src/devcluster/pods/volumes/service-account-tokens.ts'
import { ServiceAccountTokens } from '../../../../src/devcluster/pods/volumes/service-account-tokens.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'
import { podWith } from '../../../support/pods/fake-sources.ts'

class World {
  readonly clock = new FakeClock()
  readonly start = this.clock.now()
  readonly requests: TokenRequest[] = []
  readonly problems: string[] = []
  failure: Error | undefined
  readonly tokens: ServiceAccountTokens

  constructor(random = 0) {
    this.tokens = new ServiceAccountTokens(podWith(), {
      clock: this.clock,
      random: () => random,
      createToken: (request) => this.#create(request),
      onProblem: ({ message }) => this.problems.push(message),
    })
  }

  /** The number of seconds until the next renewal. */
  get refreshIn(): number {
    return (this.tokens.refreshAt - this.clock.now()) / 1000
  }

  async #create(request: TokenRequest): Promise<IssuedToken> {
    this.requests.push(request)
    if (this.failure !== undefined) throw this.failure
    const { expirationSeconds } = request
    return { token: `token-${this.requests.length}`, expirationSeconds, expiresAt: this.clock.now() + expirationSeconds * 1000 }
  }
}

t.test('a token is bound to the Pod, and requested once for each audience and lifetime', async (t) => {
  const { tokens, requests } = new World()
  t.equal(tokens.refreshAt, Number.POSITIVE_INFINITY)
  t.equal(await tokens.get({}), 'token-1')
  t.equal(await tokens.get({}), 'token-1')
  t.equal(await tokens.get({ audience: 'vault', expirationSeconds: 600 }), 'token-2')
  t.equal(await tokens.get({ audience: 'vault', expirationSeconds: 600 }), 'token-2')
  const common = { namespace: 'ns', serviceAccount: 'robot', pod: { name: 'web', uid: '11111111-2222-3333-4444-555555555555' } }
  t.strictSame(requests, [
    { ...common, audiences: [], expirationSeconds: 3600 },
    { ...common, audiences: ['vault'], expirationSeconds: 600 },
  ])
})

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/token/token_manager.go: requiresRefresh. */
t.test('a token is renewed at 80% of its lifetime, at the latest after a day, and up to 10 s earlier', async (t) => {
  const facts: readonly (readonly [seconds: number, random: number, refreshIn: number])[] = [
    [3600, 0, 2880],
    [3600, 0.5, 2875],
    [600, 0, 480],
    [3607, 0, 2886],
    [31_536_000, 0, 86_400],
    [31_536_000, 1, 86_390],
  ]
  for (const [expirationSeconds, random, refreshIn] of facts) {
    const world = new World(random)
    await world.tokens.get({ expirationSeconds })
    t.equal(world.refreshIn, refreshIn, `${expirationSeconds} ${random}`)
  }
  const world = new World()
  await world.tokens.get({})
  await world.clock.advance(2_879_999)
  t.equal(await world.tokens.get({}), 'token-1')
  await world.clock.advance(1)
  t.equal(await world.tokens.get({}), 'token-2')
  t.equal(world.refreshIn, 2880)
})

/** The expected results are those of k8s.io/kubernetes/pkg/kubelet/token/token_manager.go: GetServiceAccountToken. */
t.test('the old token is used until it expires, while renewals fail once a minute', async (t) => {
  const world = new World()
  const { tokens, clock } = world
  world.failure = new Error('no server')
  await t.rejects(tokens.get({}), { message: 'failed to fetch token: no server', cause: world.failure })
  world.failure = undefined
  await tokens.get({})
  world.failure = new Error('no server')
  await clock.advance(2_880_000)
  t.equal(await tokens.get({}), 'token-2')
  t.equal(world.refreshIn, 60)
  t.equal(await tokens.get({}), 'token-2')
  t.equal(world.requests.length, 3)
  t.match(world.problems, [/^Couldn't update token robot\/ns\/""\/3600: no server$/])
  await clock.advance(720_001)
  const expired = { message: 'token robot/ns/""/3600 expired and refresh failed: no server' }
  await t.rejects(tokens.get({}), expired)
  await t.rejects(tokens.get({}), expired, 'also before the next renewal')
  world.failure = undefined
  t.equal(await tokens.get({}), 'token-6')
})
