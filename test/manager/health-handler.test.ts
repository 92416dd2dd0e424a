import t from 'tap'
import { healthHandler, type Check } from '../../src/manager/health-handler.ts'

const good: Check = { name: 'good', problem: () => undefined }
const bad: Check = { name: 'bad', problem: async () => 'it is broken' }
const throwing: Check = {
  name: 'throwing',
  problem: () => {
    throw new Error('boom')
  },
}
const shown: Check = { name: 'cache/things.example.com', decides: false, problem: () => 'not synced yet' }
const ask = async (checks: readonly Check[], path: string): Promise<{ code: number; body: string } | undefined> =>
  healthHandler('/readyz', () => checks)(new URL(path, 'http://localhost'))

t.test('healthy checks answer ok', async (t) => {
  t.strictSame(await ask([good, shown], '/readyz'), { code: 200, body: 'ok' })
  t.strictSame(await ask([], '/readyz'), { code: 200, body: 'ok' })
})

t.test('a failed check is explained, even without verbose', async (t) => {
  t.strictSame(await ask([good, bad, throwing], '/readyz'), {
    code: 500,
    body: '[+]good ok\n[-]bad failed: it is broken\n[-]throwing failed: boom\nreadyz check failed\n',
  })
})

t.test('secrets in a problem are not shown', async (t) => {
  const url = 'postgres://app:topsecret@db/shop'
  const told: Check = { name: 'told', problem: () => `cannot reach ${url}` }
  const thrown: Check = {
    name: 'thrown',
    problem: () => {
      throw new Error(`connect ${url}`)
    },
  }
  for (const path of ['/readyz', '/readyz?verbose', '/readyz/told', '/readyz/thrown']) {
    const { body } = (await ask([told, thrown], path))!
    t.notMatch(body, /topsecret/, path)
    t.match(body, /db\/shop/, path)
  }
})

t.test('verbose lists also checks that do not decide', async (t) => {
  t.strictSame(await ask([good, shown], '/readyz?verbose'), {
    code: 200,
    body: '[+]good ok\n[~]cache/things.example.com: not synced yet (does not decide)\nreadyz check passed\n',
  })
})

t.test('checks can be excluded and requested one by one', async (t) => {
  t.strictSame(await ask([good, bad], '/readyz?exclude=bad'), { code: 200, body: 'ok' })
  t.strictSame(await ask([good, bad, throwing], '/readyz?exclude=throwing&exclude=bad'), { code: 200, body: 'ok' })
  t.strictSame(await ask([good, bad, throwing, shown], '/readyz?exclude=bad&exclude=none'), {
    code: 500,
    body: '[+]good ok\n[-]throwing failed: boom\n[~]cache/things.example.com: not synced yet (does not decide)\nreadyz check failed\n',
  })
  t.strictSame(await ask([shown], '/readyz/cache%2Fthings.example.com'), { code: 500, body: 'not synced yet\n' })
  t.strictSame(await ask([good, bad], '/readyz/good'), { code: 200, body: 'ok' })
  t.strictSame(await ask([good, bad], '/readyz/bad'), { code: 500, body: 'it is broken\n' })
  t.strictSame(await ask([shown], '/readyz/cache/things.example.com'), { code: 500, body: 'not synced yet\n' })
  t.equal(await ask([good], '/readyz/none'), undefined)
  t.equal(await ask([good], '/readyz-good'), undefined, 'another path')
  t.equal(await ask([good], '/readyz/%'), undefined)
  t.equal(await ask([good], '/readyzz'), undefined)
})
