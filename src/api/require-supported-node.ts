/**
 * Checks the version of Node.js. This module is imported first, because an unsupported Node.js must fail with a clear message, not with an
 * error of a dependency.
 */
import { ProreusError } from './errors.ts'
import { nodeProblem } from './supported-node.ts'

const problem = nodeProblem()
if (problem !== undefined) throw new ProreusError('PRO_CONFIG_INVALID', problem)
