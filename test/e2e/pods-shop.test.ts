/**
 * Tests that a shop of a Deployment, a StatefulSet and Jobs survives rollouts, scaling, deletions, evictions and killed processes, and
 * leaks nothing. `npm run drill -- pods --only shop` runs the same test for longer.
 */
import t from 'tap'
import { testPart } from '../support/pods/test-part.ts'

await testPart(t, 'a shop of Pods converges after each disturbance, keeps its orders, and leaks nothing', {
  part: 'shop',
  user: 'machine',
  amount: 20,
})
