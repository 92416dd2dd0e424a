/** Tests of the comparison of RBAC rules. */
import t from 'tap'
import type { PolicyRule } from '../../../src/api/policy-rule.ts'
import { countRights, missingRights } from '../../../src/devcluster/access/rule-coverage.ts'

function rule(apiGroups: string[], resources: string[], verbs: string[], more: Partial<PolicyRule> = {}): PolicyRule {
  return { apiGroups, resources, verbs, ...more }
}

t.test('each right must be granted by one of the rules', (t) => {
  const held = [rule([''], ['pods'], ['get']), rule([''], ['pods'], ['list']), rule(['apps'], ['*'], ['*'])]
  t.strictSame(missingRights(held, [rule([''], ['pods'], ['get', 'list']), rule(['apps'], ['deployments/scale'], ['patch'])]), [])
  t.strictSame(missingRights(held, [rule(['', 'apps'], ['pods', 'nodes'], ['list', 'watch'])]), [
    '{APIGroups:[""], Resources:["nodes"], Verbs:["list" "watch"]}',
    '{APIGroups:[""], Resources:["pods"], Verbs:["watch"]}',
  ])
  t.strictSame(missingRights(held, [rule(['*'], ['*'], ['*'])]), ['{APIGroups:["*"], Resources:["*"], Verbs:["*"]}'])
  t.end()
})

t.test('the verbs of several rules on a resource are one text', (t) => {
  const wanted = [rule([''], ['pods'], ['get']), rule([''], ['nodes'], ['get']), rule([''], ['pods'], ['list', 'get'])]
  t.strictSame(missingRights([], wanted), [
    '{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}',
    '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list" "get"]}',
  ])
  t.end()
})

t.test('a path is granted by itself or by a prefix', (t) => {
  const held = [rule([], [], ['get'], { nonResourceURLs: ['/a', '/b/*', '/c**'] }), rule(['*'], ['*'], ['*'])]
  const wanted = (...nonResourceURLs: string[]): PolicyRule[] => [rule([], [], ['get'], { nonResourceURLs })]
  t.strictSame(missingRights(held, wanted('/a', '/b/c', '/b/*', '/c', '/c*')), [])
  t.strictSame(missingRights(held, wanted('/a/b', '/b')), [
    '{NonResourceURLs:["/a/b"], Verbs:["get"]}',
    '{NonResourceURLs:["/b"], Verbs:["get"]}',
  ])
  t.end()
})

t.test('a rule for a resource grants no path, and a rule for a path grants no resource', (t) => {
  const path = rule([], [], ['*'], { nonResourceURLs: ['*'] })
  const resource = rule(['*'], ['*'], ['*'])
  t.equal(missingRights([resource], [path]).length, 1)
  t.equal(missingRights([path], [resource]).length, 1)
  t.end()
})

t.test('the rights are counted without a list of them', (t) => {
  t.equal(countRights([rule(['', 'apps'], ['a', 'b', 'c'], ['get', 'list'])]), 12)
  t.equal(countRights([rule([''], ['a'], ['get'], { resourceNames: ['x', 'y', 'z'] })]), 3)
  t.equal(countRights([rule([], [], ['get', 'head'], { nonResourceURLs: ['/a', '/b'] }), rule([''], [], ['get'])]), 4)
  const many = Array.from({ length: 100_000 }, (_, index) => `${index}`)
  t.equal(countRights([rule(many, many, many)]), 1e15)
  t.end()
})
