"""What the command prints: tables, trees and words for a terminal."""
