/**
 * Tests the shop, a sample application that consists of a Deployment, a StatefulSet and Jobs. During the test, workloads are updated and
 * scaled, Pods are deleted and evicted, and processes are killed. Afterwards, all replicas must be ready, no acknowledged order may be
 * lost, and no process, file or other resource may have leaked. `npm run drill -- pods --only shop` runs the same test for longer.
 */
import t from 'tap'
import { testPart } from '../support/pods/test-part.ts'

await testPart(t, 'a shop of Pods converges after each disturbance, keeps its orders, and leaks nothing', {
  part: 'shop',
  user: 'machine',
  amount: 20,
})
