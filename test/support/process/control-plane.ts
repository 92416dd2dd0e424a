/** A program that starts an embedded control plane, and stops it. */
import { startControlPlane } from '../../../src/testing/index.ts'

const controlPlane = await startControlPlane()
await controlPlane.stop()
