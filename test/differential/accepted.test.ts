/**
 * Tests of the comparison of responses, of the reviewed list of accepted differences, and of the page that documents the accepted
 * differences.
 */
import t from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { AcceptedDifference } from '../real/differential/accepted.ts'
import { review, matches, readAccepted } from '../real/differential/accepted.ts'
import { differencesOf } from '../real/differential/compare.ts'
import type { Comparison } from '../real/differential/player.ts'
import { renderDifferences } from '../real/differential/render.ts'
import { allSteps, readScenarios } from '../real/differential/scenario.ts'

const comparison = (id: string, real: JsonObject, embedded: JsonObject): Comparison => ({
  scenario: 'one',
  id,
  request: `GET /${id}`,
  real,
  embedded,
  differences: differencesOf(real, embedded),
})
const entry = (requests: string[], paths: string[], scenario = 'one'): AcceptedDifference => ({
  scenario,
  requests,
  paths,
  reason: 'because',
})

t.test('a difference is reported at its deepest path', async (t) => {
  const paths = (real: JsonObject, embedded: JsonObject): string[] => differencesOf(real, embedded).map(({ path }) => path)
  t.strictSame(paths({ a: { b: 1, c: 2 } }, { a: { b: 1, c: 3 } }), ['a.c'])
  t.strictSame(paths({ 'a.b': 1 }, {}), ['["a.b"]'])
  t.strictSame(paths({ a: [{ name: 'x', v: 1 }, { name: 'y' }] }, { a: [{ name: 'y' }, { name: 'x', v: 2 }] }), ['a[x].v', 'a[order]'])
  t.strictSame(paths({ a: ['x', 'y'] }, { a: ['y', 'z'] }), ['a[x]', 'a[z]'])
  t.strictSame(paths({ a: [1, 2] }, { a: [1, 3, 4] }), ['a[1]', 'a[2]'])
  t.strictSame(paths({ kind: 'Status', code: 404 }, { kind: 'ConfigMap' }), [''])
})

t.test('a pattern matches the whole text, and a star any part of it', async (t) => {
  t.ok(matches('body.*.description', 'body.columns[Name].description'))
  t.notOk(matches('body.message', 'body.messages'))
  t.notOk(matches('body.a', 'body,a'))
})

t.test('a difference is accepted for its scenario, request and path only', async (t) => {
  const found = [comparison('a', { x: 1, y: 1 }, { x: 2, y: 1 }), comparison('b', { x: 1 }, { x: 2 }), comparison('c', { x: 1 }, { x: 1 })]
  const { failed, ...others } = review(found, [entry(['a'], ['x'])])
  t.strictSame(
    failed.map(({ comparison }) => comparison.id),
    ['b'],
  )
  t.strictSame(others, { compared: 3, equal: 1, accepted: 1, stale: [] })
  t.equal(review(found, [entry(['a', 'b'], ['x'], 'two')]).failed.length, 2)
  t.equal(review([comparison('a', { x: 1, y: 1 }, { x: 2, y: 2 })], [entry(['a'], ['x'])]).failed.length, 1)
})

t.test('an accepted difference that no longer exists is stale', async (t) => {
  const found = [comparison('a', { x: 1 }, { x: 2 })]
  t.strictSame(review(found, [entry(['a', 'b'], ['x', 'y'])]).stale, [
    'one: nothing differs any more for the request b',
    'one: nothing differs any more for the path y',
  ])
  t.strictSame(review(found, [{ ...entry(['a', 'b'], ['x', 'y']), isRare: true }]).stale, [], 'a rare difference may be absent')
})

t.test('every entry of the list has existing scenarios and requests, and a reason', async (t) => {
  const scenarios = readScenarios()
  for (const { scenario, requests, paths, reason } of readAccepted().differences) {
    const named = scenarios.filter(({ name }) => matches(scenario, name))
    const ids = named.flatMap(({ steps }) => allSteps(steps).map(({ id }) => id))
    for (const request of requests)
      t.ok(
        ids.some((id) => matches(request, id)),
        `${scenario}: ${request}`,
      )
    t.ok(paths.length > 0 && reason.length > 10, `${scenario}: has paths and a reason`)
  }
})

t.test('the page lists limits and differences', async (t) => {
  const page = renderDifferences({
    limits: [{ title: 'Groups.', text: 'Not\nall.' }],
    differences: [entry(['a'], ['body.x|y'])],
    lives: [entry(['step'], ['events'])],
  })
  t.match(page, '- **Groups.** Not all.\n')
  t.match(page, '| `one/a` | `body.x\\|y` | because |\n')
  t.match(page, '| `one/step` | `events` | because |\n')
})
