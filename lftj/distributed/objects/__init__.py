# SPDX-License-Identifier: Apache-2.0
"""The files below a path, wherever they are: in a folder, or as objects of a store."""
